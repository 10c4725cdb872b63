import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createGatewayModels } from '#models/gateway-models';
import { createFolderObjects } from '#objects/adapters/folder/folder-objects';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { replayJob } from '../jobs/dead-letters.ts';
import { buildNext } from '../reindex/run-reindexer.ts';
import { startReindex } from '../reindex/start-reindex.ts';
import { startEmbeddingsWithOutages } from '../testing/embeddings-with-outages.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { testProfile } from '../testing/scripted-models.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import type { IngestStep } from './ingest-ports.ts';

/** Splits into six full batches of chunks and a seventh that is not full. */
const long = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(' ');
const batches = 7;
const never = new AbortController().signal;

describe.skipIf(missingPostgres !== undefined)(onPostgres('a document of many batches'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let parts: AsyncDisposableStack;
  let embeddings: Awaited<ReturnType<typeof startEmbeddingsWithOutages>>;
  let objects: string;
  let judge: (text: string) => string;
  let model: string;
  let onStep: (step: IngestStep) => void;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    judge = (text) => text;
    model = testProfile.model;
    onStep = () => undefined;
    parts = new AsyncDisposableStack();
    objects = parts.use(temporaryFolder()).path;
    embeddings = parts.use(await startEmbeddingsWithOutages());
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, {
      objects: createFolderObjects(objects),
      models: parts.use(createGatewayModels({ url: new URL(embeddings.url), pause: async () => undefined })),
      profileOf: (id) => ({ ...testProfile, id, model }),
      onStep: (step) => onStep(step),
      guard: {
        check: async (_scope, texts) => ({
          kind: 'passed',
          texts: texts.map((text) => judge(text)),
          policyRevision: '1',
        }),
      },
    });
    return () => parts.disposeAsync();
  });

  const sql: TestDatabase['database']['sql'] = ((...args: Parameters<TestDatabase['database']['sql']>) =>
    opened.database.sql(...args)) as never;
  const dueNow = async (): Promise<void> => {
    await sql`update retrieval.jobs set due_at = clock_timestamp() where status in ('PENDING', 'RUNNING')`;
    await sql`update retrieval.index_versions set due_at = clock_timestamp() where state = 'building'`;
  };
  const work = async () => {
    await dueNow();
    return ingest.work();
  };
  const build = async () => {
    await dueNow();
    return buildNext(ingest.ports, { logger: unwrittenLogger, leaseMs: 30_000 }, never);
  };
  /** How often each text was embedded, as the set of different counts. */
  const timesEmbedded = () => {
    const times = new Map<string, number>();
    for (const text of embeddings.answered.flatMap(({ texts }) => texts)) times.set(text, (times.get(text) ?? 0) + 1);
    return [...new Set(times.values())];
  };
  const chunks = async (docId: string, version = 1) => [
    ...(await sql`
      select c.no, c.start_at, c.end_at, c.heading, c.text, c.tokens, c.terms, c.vector
      from retrieval.chunks c join retrieval.documents d on d.doc = c.doc and c.seq = d.live_seq
      where d.doc_id = ${docId} and c.version = ${version} order by c.no`),
  ];
  const waitsSince = async (hours: number): Promise<void> => {
    await sql`update retrieval.jobs set unavailable_since = clock_timestamp() - ${hours} * interval '1 hour'`;
    await sql`update retrieval.index_versions set unavailable_since = clock_timestamp() - ${hours} * interval '1 hour'`;
  };
  const jobs = () =>
    sql<{ status: string; code: string | null; waited: boolean }[]>`
      select status, failure_code as code, unavailable_since < clock_timestamp() - interval '1 hour' as waited
      from retrieval.jobs`;

  const waiting = () =>
    sql<{ waited: boolean }[]>`
      select unavailable_since < clock_timestamp() - interval '1 hour' as waited
      from retrieval.index_versions where state = 'building'`;

  test('a document is finished by short answers between outages, and no answered batch is embedded again', async () => {
    await ingest.submit({ docId: 'whole', text: long });
    expect(await work()).toBe('done');
    expect(embeddings.answered).toHaveLength(batches);
    await ingest.submit({ docId: 'broken', text: long });
    const ends: unknown[] = [];
    for (const calls of [0, 3, 0, 1, 2, 1]) {
      embeddings.answer(calls);
      ends.push(await work());
    }
    expect(ends).toEqual(['released', 'released', 'released', 'released', 'released', 'done']);
    expect(embeddings.answered).toHaveLength(2 * batches);
    expect(timesEmbedded()).toEqual([2]);
    expect(await chunks('broken')).toEqual(await chunks('whole'));
  });

  test('a document whose last attempt ended after its last batch is finished without a call', async () => {
    await ingest.submit({ docId: 'a', text: long });
    let left = batches;
    onStep = (step) => {
      if (step !== 'written') return;
      left -= 1;
      if (left === 0) throw new Error('a defect');
    };
    expect(await work()).toBe('abandoned');
    embeddings.answer(0);
    expect(await work()).toBe('done');
    expect(timesEmbedded()).toEqual([1]);
  });

  test.each([
    { step: 'written', again: 0, title: 'after a batch is written embeds no batch' },
    { step: 'embedded', again: 1, title: 'before a batch is written embeds this batch alone' },
  ] as const)('the attempt after a worker that was killed $title again', async ({ step, again }) => {
    await ingest.submit({ docId: 'a', text: long });
    const program = fileURLToPath(new URL('../testing/work-and-die.ts', import.meta.url));
    const plan = JSON.stringify({ objects, gateway: embeddings.url, step, occurrence: 3 });
    const killed = spawn(process.execPath, [program, String(opened.url), opened.passwordFile, plan], {
      stdio: 'inherit',
    });
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL']);
    expect(embeddings.answered).toHaveLength(3);
    expect(await work()).toBe('done');
    expect(embeddings.answered).toHaveLength(batches + again);
    expect(await chunks('a')).toHaveLength(new Set(embeddings.answered.flatMap(({ texts }) => texts)).size);
  });

  test('a batch that an interrupted removal left incomplete is embedded again with all later batches, and no earlier one', async () => {
    await ingest.submit({ docId: 'a', text: long });
    embeddings.answer(5);
    expect(await work()).toBe('released');
    await sql`delete from retrieval.chunks where no = ${2 * testProfile.batch + 1}`;
    embeddings.answer(batches);
    expect(await work()).toBe('done');
    expect(embeddings.answered.map(({ texts }) => texts[0])).toHaveLength(5 + batches - 2);
    const complete = await chunks('a');
    expect(complete.map((row) => row['no'])).toEqual(complete.map((_, at) => at));
  });

  test('a text that the policy masks only in a later attempt is embedded and stored in its masked form alone', async () => {
    await ingest.submit({ docId: 'a', text: long });
    embeddings.answer(4);
    expect(await work()).toBe('released');
    const second = embeddings.answered[1]?.texts[5] ?? '';
    const word = second.split(' ')[3] ?? '';
    judge = (text) => text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), '*'.repeat(word.length));
    embeddings.answer(batches);
    expect(await work()).toBe('done');
    expect(embeddings.answered).toHaveLength(4 + batches - 1);
    const stored = await chunks('a');
    expect(stored.filter(({ text }) => String(text).split(' ').includes(word))).toEqual([]);
    expect(stored.some(({ text }) => String(text).includes('***'))).toBe(true);
  });

  test('batches of another model with the same profile id are embedded again', async () => {
    await ingest.submit({ docId: 'a', text: long });
    embeddings.answer(batches - 1);
    expect(await work()).toBe('released');
    model = 'other-model';
    embeddings.answer(batches);
    expect(await work()).toBe('done');
    expect(embeddings.answered.filter((call) => call.model === 'other-model')).toHaveLength(batches);
  });

  test('the 24 hours without progress begin again with each written batch, and end a job that writes none', async () => {
    const [entry] = await ingest.submit({ docId: 'a', text: long });
    for (const calls of [1, 1]) {
      embeddings.answer(calls);
      expect(await work()).toBe('released');
      expect([...(await jobs())]).toEqual([{ status: 'RUNNING', code: null, waited: false }]);
      await waitsSince(24);
    }
    embeddings.answer(0);
    expect(await work()).toBe('released');
    expect([...(await jobs())]).toMatchObject([{ status: 'FAILED', code: 'dependency_unavailable' }]);
    expect(await replayJob(opened.database.sql, { tenant: 'acme', jobId: entry?.jobId ?? '' })).toBe('replayed');
    embeddings.answer(batches);
    expect(await work()).toBe('done');
    expect(timesEmbedded()).toEqual([1]);
  });

  test('a reindex continues a document after its last written batch, and its 24 hours begin again with each', async () => {
    await ingest.submit({ docId: 'a', text: long });
    expect(await work()).toBe('done');
    await startReindex(opened.database, ingest.collectionId, undefined);
    for (const calls of [2, 2]) {
      await waitsSince(23);
      embeddings.answer(calls);
      expect(await build()).toBe('released');
      expect([...(await waiting())]).toEqual([{ waited: false }]);
    }
    await waitsSince(23);
    embeddings.answer(0);
    expect(await build()).toBe('released');
    expect([...(await waiting())]).toEqual([{ waited: true }]);
    embeddings.answer(3);
    expect(await build()).toBe('switched');
    expect(timesEmbedded()).toEqual([2]);
    expect(await chunks('a', 2)).toEqual(await chunks('a', 1));
  });
});
