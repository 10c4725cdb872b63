import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { DependencyUnavailableError } from '../faults.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import { runWorker } from '../worker/run-worker.ts';
import { claimDeletion, claimJob } from './claim-job.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('claims of jobs'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  /** Ends the fetches that wait. */
  let endFetches: () => void;
  let fetches = 0;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await opened.database.sql`drop schema if exists retrieval cascade`;
    const ended = new Promise<never>((_, reject) => {
      endFetches = () => reject(new DependencyUnavailableError('content'));
    });
    ended.catch(() => undefined);
    fetches = 0;
    const fetcher = {
      fetch() {
        fetches += 1;
        return ended;
      },
    };
    ingest = await openIngest(opened.database, { fetcher });
  });

  const named = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ docId: `${prefix}-${String(at).padStart(3, '0')}`, text: 'words' }));
  const claimed = async (count: number): Promise<readonly string[]> => {
    const ids: string[] = [];
    for (let at = 0; at < count; at += 1) ids.push((await claimJob(opened.database.sql, 60_000))?.docId ?? 'none');
    return ids;
  };
  const statusOf = async (docId: string): Promise<unknown> => {
    const [job] = await opened.database.sql<{ status: string }[]>`
      select status from retrieval.jobs where doc_id = ${docId} order by seq desc limit 1`;
    return job?.status;
  };

  test('the tenant of which the fewest jobs are processed comes first, however many jobs of another one are due before', async () => {
    await ingest.submitAs('first', ...named('a', 100));
    await ingest.submitAs('second', ...named('b', 3));
    await ingest.submitAs('third', ...named('c', 1));
    expect(await claimed(8)).toEqual(['a-000', 'b-000', 'c-000', 'a-001', 'b-001', 'a-002', 'b-002', 'a-003']);
  });

  test('a job that waits for a dependency, or whose lease has ended, is not a job that is processed', async () => {
    await ingest.submitAs('first', ...named('a', 4));
    await ingest.submitAs('second', ...named('b', 2));
    expect(await claimed(1)).toEqual(['a-000']);
    await opened.database.sql`
      update retrieval.jobs set retry_at = now() + interval '1 hour', due_at = now() + interval '1 hour'
      where doc_id = 'a-000'`;
    expect(await claimed(1)).toEqual(['a-001']);
    await opened.database.sql`update retrieval.jobs set due_at = now() - interval '1 hour' where doc_id = 'a-001'`;
    expect(await claimed(3)).toEqual(['a-001', 'b-000', 'a-002']);
  });

  test('a deletion comes before what its tenant submitted earlier, and does not come before another tenant', async () => {
    await ingest.submitAs('first', ...named('a', 3), { docId: 'a-gone' });
    await ingest.submitAs('second', ...named('b', 1), { docId: 'b-gone' });
    expect(await claimed(5)).toEqual(['a-gone', 'b-gone', 'a-000', 'b-000', 'a-001']);
    expect(await claimDeletion(opened.database.sql, 60_000)).toBeUndefined();
  });

  test('claims at the same moment get different jobs', async () => {
    await ingest.submitAs('first', ...named('a', 30));
    const jobs = await Promise.all(Array.from({ length: 30 }, () => claimJob(opened.database.sql, 60_000)));
    expect(new Set(jobs.map((job) => job?.jobId ?? 'none')).size).toBe(30);
    expect(await claimed(1)).toEqual(['none']);
  });

  test('a claim reads a few rows for each tenant, and none of the jobs that wait', async () => {
    const { sql } = opened.database;
    await ingest.submitAs('first', ...named('a', 1));
    await ingest.submitAs('second', ...named('b', 1));
    await sql`
      insert into retrieval.jobs (job_id, tenant, collection_id, collection, doc, doc_id, seq, op, op_epoch, content_hash,
        idempotency_key, labels, payload_key, staged, status, due_at, retry_at, trace_id)
      select gen_random_uuid(), tenant, collection_id, collection, doc, doc_id, 1 + n, op, op_epoch, content_hash, 'key ' || n,
        labels, payload_key, staged, case when n % 2 = 0 then 'PENDING' else 'RUNNING' end,
        now() + case when n % 2 = 0 then interval '0' else interval '1 hour' end,
        case when n % 2 = 0 then null else now() + interval '1 hour' end, trace_id
      from retrieval.jobs, generate_series(1, 5000) n`;
    await sql`analyze retrieval.jobs`;
    const { answer, read } = await readingRows(opened.database, 'retrieval.jobs', (one) => claimJob(one, 60_000));
    expect(answer?.docId).toBe('a-000');
    expect(read).toBeLessThan(60);
  });

  test('fetches of one tenant that do not end delay no deletion, and another tenant until one of them ends', async () => {
    const ref = { uri: 'https://files.example/slow', contentHash: 'a'.repeat(64) };
    await ingest.submitAs('first', ...Array.from({ length: 50 }, (_, at) => ({ docId: `slow-${at}`, ref })));
    const options = {
      logger: unwrittenLogger,
      concurrency: 2,
      leaseMs: 60_000,
      pollMs: 20,
      onAttempt: () => undefined,
    };
    await using _worker = runWorker(ingest.ports, { ...options, jobs: 'all' });
    await using _deletions = runWorker(ingest.ports, { ...options, jobs: 'deletions', concurrency: 1 });
    try {
      await until('two fetches wait', () => fetches === 2);
      await ingest.submitAs('second', { docId: 'quick', text: 'words' }, { docId: 'gone' });
      await until('the deletion has taken effect', async () => (await statusOf('gone')) === 'DONE');
      expect(await statusOf('quick')).toBe('PENDING');
    } finally {
      endFetches();
    }
    await until('the document of the other tenant is indexed', async () => (await statusOf('quick')) === 'DONE');
  });
});
