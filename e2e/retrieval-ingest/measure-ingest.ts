import { join } from 'node:path';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { missingPostgres, startTestServer } from '#sql/testing/test-server';
import { openIngest } from '../../dataplane/retrieval/ingest/testing/open-ingest.ts';
import { readCorpus } from '../retrieval-speed/chunks.ts';
import { median } from '../support/median.ts';
import { randomFrom } from '../support/random-from.ts';

type IngestReport = {
  readonly documents: number;
  readonly chunks: number;
  readonly documentsPerSecond: number;
  /** Share of the time by stage, the largest first; each is named after the step that completes it. */
  readonly shares: readonly (readonly [stage: string, share: number])[];
  /** Median time of a batch in the last fifth of all batches, as a multiple of the median in the second fifth. */
  readonly slowdown: number;
  /**
   * The ratio of resident memory after a garbage collection: without a collection it would show how late V8 collects.
   */
  readonly growth: number;
};

const documentsOfBatch = 50;
const sentencesOfDocument = 12;

/** Ingests documents one after another until the given number of chunks exists, with embeddings that take no time. */
export async function measureIngest(
  chunks: number,
  say: (progress: string) => void,
): Promise<IngestReport | { readonly missing: string }> {
  if (missingPostgres !== undefined) return { missing: missingPostgres };
  await using server = await startTestServer();
  await using opened = await server.createDatabase();
  using folder = temporaryFolder();
  const stages = new Map<string, number>();
  let last = performance.now();
  const onStep = (stage: string): void => {
    const now = performance.now();
    stages.set(stage, (stages.get(stage) ?? 0) + now - last);
    last = now;
  };
  const objects = createFolderObjects(join(folder.path));
  const ingest = await openIngest(opened.database, { objects, onStep });
  const { sentences } = readCorpus();
  const random = randomFrom(7);
  const text = (): string =>
    Array.from({ length: sentencesOfDocument }, () => sentences[Math.floor(random() * sentences.length)]).join(' ');
  const batches: { readonly ms: number; readonly resident: number }[] = [];
  let [documents, written] = [0, 0];
  while (written < chunks) {
    const batch = Array.from({ length: documentsOfBatch }, (_, at) => ({ docId: `d${documents + at}`, text: text() }));
    documents += documentsOfBatch;
    const start = performance.now();
    last = start;
    await ingest.submit(...batch);
    onStep('submitted');
    await ingest.drain();
    const ms = performance.now() - start;
    collectGarbage();
    batches.push({ ms, resident: process.memoryUsage.rss() });
    written = await countChunks(opened.database, ingest.collectionId);
    if (batches.length % 50 === 0) say(`${documents} documents, ${written} chunks`);
  }
  const spent = [...stages.values()].reduce((sum, ms) => sum + ms, 0);
  const ratioOf = (value: (batch: (typeof batches)[number]) => number): number => {
    const fifth = Math.max(1, Math.floor(batches.length / 5));
    return median(batches.slice(-fifth).map(value)) / median(batches.slice(fifth, 2 * fifth).map(value));
  };
  return {
    documents,
    chunks: written,
    documentsPerSecond: documents / (batches.reduce((sum, { ms }) => sum + ms, 0) / 1_000),
    shares: [...stages].map(([stage, ms]) => [stage, ms / spent] as const).sort(([, one], [, other]) => other - one),
    slowdown: ratioOf(({ ms }) => ms),
    growth: ratioOf(({ resident }) => resident),
  };
}

async function countChunks({ sql }: Parameters<typeof openIngest>[0], collectionId: string): Promise<number> {
  const [row] = await sql<{ chunks: number }[]>`
    select chunk_count::int as chunks from retrieval.collections where collection_id = ${collectionId}`;
  return row?.chunks ?? 0;
}
