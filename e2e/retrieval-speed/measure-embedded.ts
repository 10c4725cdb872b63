import { wait } from '#kit/time/wait';
import { openEmbeddedIndex } from '#search/adapters/embedded/embedded-index';
import { analyse } from '#search/analysis/analyse';
import { fuseRankings } from '#search/fuse-rankings';
import type { CandidateQuery, IndexEntry, PartitionSource } from '#search/ports';
import { SearchUnavailableError } from '#search/search-error';
import type { SpeedCase, SpeedReport } from './case.ts';
import { analysed, makeChunk, randomOf, randomVector, readCorpus } from './chunks.ts';
import { startOthers } from './measure-others.ts';
import { timeCalls, timingsOf } from './timings.ts';

const window = 50;
const pageSize = 500;
const idleMs = 1_000;

/** Makes the chunks page by page as they are read, as a database would send them, and counts the time of making. */
function sourceOf({ chunks, dimensions }: SpeedCase, sentences: readonly (readonly string[])[]) {
  let makingMs = 0;
  async function* pages(): AsyncGenerator<readonly IndexEntry[]> {
    for (let no = 0; no < chunks; no += pageSize) {
      const start = performance.now();
      const size = Math.min(pageSize, chunks - no);
      const page = Array.from({ length: size }, (_, at) => makeChunk(no + at, dimensions, sentences).entry);
      makingMs += performance.now() - start;
      yield page;
    }
  }
  const source: PartitionSource = {
    load: async () => ({ upTo: 1n, entries: pages() }),
    changesAfter: async (_partition, after) => ({ kind: 'changes', changes: [], upTo: after, more: false }),
  };
  return { source, makingMs: () => makingMs };
}

/** Repeats a query whose partition takes longer to load than a query waits. */
async function untilLoaded(search: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await search();
      return;
    } catch (error) {
      if (!(error instanceof SearchUnavailableError) || error.fault !== 'behind') throw error;
    }
  }
}

export async function measureEmbedded(given: SpeedCase): Promise<SpeedReport> {
  const corpus = readCorpus();
  const sentences = analysed(corpus);
  const startMib = process.memoryUsage.rss() / 2 ** 20;
  const start = performance.now();
  const { source, makingMs } = sourceOf(given, sentences);
  await using index = openEmbeddedIndex({ source, mostBytes: 4 * 2 ** 30 });
  const random = randomOf(7);
  const search = async (no: number, labels: CandidateQuery['labels']) => {
    const terms = analyse(corpus.questions[no % corpus.questions.length] ?? '');
    const vector = randomVector(random, given.dimensions);
    const legs = [
      { kind: 'bm25', terms },
      { kind: 'vector', vector },
    ] as const;
    const rankings = await index.candidates({ partition: 'p', reflects: 1n, labels, legs, window });
    return fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 })));
  };
  await untilLoaded(() => search(0, 'every'));
  const readyMs = performance.now() - start - makingMs();
  await timeCalls(Math.min(given.queries, 50), (no) => search(no, 'every'));
  const filtered = timingsOf(await timeCalls(given.queries, (no) => search(no, [`group:${no % 20}`])));
  const unfiltered = timingsOf(await timeCalls(given.queries, (no) => search(no, 'every')));
  await using others = await startOthers();
  await others.during(() => wait(idleMs, new AbortController().signal));
  const idle = await others.during(() => wait(idleMs, new AbortController().signal));
  const busy = await others.during(() => timeCalls(given.queries, (no) => search(no, 'every')));
  const caller = () => timeCalls(Math.ceil(given.queries / 16), (no) => search(no, 'every'));
  const crowded = await others.during(() => Promise.all(Array.from({ length: 16 }, caller)));
  const residentMib = process.memoryUsage.rss() / 2 ** 20;
  return { readyMs, filtered, unfiltered, residentMib, startMib, others: { idle, busy, crowded } };
}
