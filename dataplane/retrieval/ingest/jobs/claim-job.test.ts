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

  /** First letters of the claims of so many rounds. Chance decides the order in a round, in which each tenant has the same number of leases. */
  const inRounds = async (...counts: readonly number[]): Promise<readonly string[]> => {
    const rounds: string[] = [];
    for (const count of counts)
      rounds.push(
        (await claimed(count))
          .map(([letter]) => letter)
          .sort()
          .join(''),
      );
    return rounds;
  };
  const end = (docId: string) => opened.database.sql`
    update retrieval.jobs set status = 'DONE', available_at = now() where doc_id = ${docId} and status = 'RUNNING'`;

  /** Claims jobs, one after the end of another, until the claimed job belongs to this tenant. */
  async function attemptsUntil(prefix: string, claim: typeof claimJob): Promise<number> {
    for (let attempts = 1; attempts <= 80; attempts += 1) {
      const docId = (await claim(opened.database.sql, 60_000))?.docId ?? 'none';
      if (docId.startsWith(prefix)) return attempts;
      await end(docId);
    }
    return Number.POSITIVE_INFINITY;
  }

  test('the tenant with the fewest jobs in progress is next, however many earlier jobs another tenant has', async () => {
    await ingest.submitAs('first', ...named('a', 100));
    await ingest.submitAs('second', ...named('b', 3));
    await ingest.submitAs('third', ...named('c', 1));
    expect(await inRounds(3, 2, 2, 1)).toEqual(['abc', 'ab', 'ab', 'a']);
  });

  test('a job that waits for a dependency, or whose lease has ended, is not a job that is processed', async () => {
    await ingest.submitAs('second', ...named('b', 3));
    expect(await claimed(1)).toEqual(['b-000']);
    await ingest.submitAs('first', ...named('a', 5));
    for (const docId of ['a-000', 'a-001']) {
      expect(await claimed(1)).toEqual([docId]);
      await opened.database.sql`
        update retrieval.jobs set retry_at = now() + interval '1 hour', due_at = now() + interval '1 hour'
        where doc_id = ${docId}`;
    }
    expect(await claimed(1)).toEqual(['a-002']);
    expect(await inRounds(2)).toEqual(['ab']);
    await opened.database.sql`
      update retrieval.jobs set due_at = now() - interval '1 hour' where doc_id in ('a-002', 'a-003')`;
    expect(await claimed(2)).toEqual(['a-002', 'a-003']);
  });

  test('a deletion precedes earlier submits of its tenant, but not those of another tenant', async () => {
    await ingest.submitAs('first', ...named('a', 3), { docId: 'a-gone' });
    await ingest.submitAs('second', ...named('b', 1), { docId: 'b-gone' });
    expect((await claimed(2)).toSorted()).toEqual(['a-gone', 'b-gone']);
    expect((await claimed(2)).toSorted()).toEqual(['a-000', 'b-000']);
    expect(await claimed(1)).toEqual(['a-001']);
    expect(await claimDeletion(opened.database.sql, 60_000)).toBeUndefined();
  });

  test('a tenant waits for a few attempts of a tenant with an older queue, even while every slot is used', async () => {
    await ingest.submitAs('first', ...named('a', 100));
    await ingest.submitAs('third', ...named('c', 100));
    const [one, other] = await claimed(2);
    expect([one?.[0], other?.[0]].sort()).toEqual(['a', 'c']);
    await ingest.submitAs('second', ...named('b', 1));
    await end(one ?? '');
    expect(await attemptsUntil('b', claimJob)).toBeLessThan(80);
  });

  test('a deletion waits for a few deletions of a tenant with an older queue of them', async () => {
    const gone = (prefix: string, count: number) => named(prefix, count).map(({ docId }) => ({ docId }));
    await ingest.submitAs('first', ...gone('a', 100));
    await ingest.submitAs('second', ...gone('b', 1));
    expect(await attemptsUntil('b', claimDeletion)).toBeLessThan(80);
  });

  test('a document waits for a few deletions of other tenants, and not for all of them', async () => {
    const gone = (prefix: string, count: number) => named(prefix, count).map(({ docId }) => ({ docId }));
    await ingest.submitAs('first', ...gone('a', 100));
    await ingest.submitAs('third', ...gone('c', 100));
    await ingest.submitAs('second', ...named('b', 1));
    expect(await attemptsUntil('b', claimJob)).toBeLessThan(80);
  });

  test('claims at the same moment get different jobs', async () => {
    await ingest.submitAs('first', ...named('a', 30));
    const jobs = await Promise.all(Array.from({ length: 30 }, () => claimJob(opened.database.sql, 60_000)));
    expect(new Set(jobs.map((job) => job?.jobId ?? 'none')).size).toBe(30);
    expect(await claimed(1)).toEqual(['none']);
  });

  test('a claim reads a few rows for each tenant, and no row of a waiting job', async () => {
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
    expect(['a-000', 'b-000']).toContain(answer?.docId);
    expect(read).toBeLessThan(60);
  });

  test('hanging fetches of one tenant delay no deletion, and delay another tenant only until one of them ends', async () => {
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
