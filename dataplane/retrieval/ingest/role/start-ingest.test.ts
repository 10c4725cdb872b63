import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ObjectsUnavailableError } from '#objects/objects-error';
import type { ObjectStore } from '#objects/ports';
import type { HintQueue } from '#queue/ports';
import { QueueUnavailableError } from '#queue/queue-error';
import { SearchUnavailableError } from '#search/search-error';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { claimJob } from '../jobs/claim-job.ts';
import { collectStaging } from '../jobs/collect-staging.ts';
import { startReconciling } from '../jobs/reconcile-jobs.ts';
import type { DocumentGuard } from '../ports.ts';
import { documentFetcher, fetchedHash } from '../testing/fetched-documents.ts';
import { type MemoryObjects, memoryObjects } from '../testing/memory-objects.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import { ingestTimes, jobHints, startIngest } from './start-ingest.ts';

/** A queue that counts its hints. */
function scriptedQueue() {
  const listeners = new Set<() => void>();
  const state = { published: 0 };
  const queue: HintQueue = {
    async publish() {
      state.published += 1;
      for (const listener of listeners) listener();
    },
    async subscribe(_topic, onHint) {
      listeners.add(onHint);
      return { [Symbol.asyncDispose]: async () => void listeners.delete(onHint) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { queue, state };
}

/** Options of a collection a number of hours from now. */
function collecting(hours: number, failures: unknown[]) {
  return {
    now: new Date(Date.now() + hours * 3_600_000),
    onFailed: (error: unknown) => void failures.push(error),
    signal: new AbortController().signal,
  };
}

const guard: DocumentGuard = {
  async check(_scope, texts) {
    if (texts.some((text) => text.includes('forbidden'))) return { kind: 'denied', policyRevision: 'p:1' };
    return {
      kind: 'passed',
      texts: texts.map((text) => text.replaceAll('555-0100', '[phone]')),
      policyRevision: 'p:1',
    };
  },
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('the worker role'), () => {
  let opened: TestDatabase;
  let objects: MemoryObjects;
  let ingest: OpenedIngest;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    objects = memoryObjects();
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, { objects, guard, fetcher: documentFetcher });
  });

  const jobs = () => opened.database.sql<Record<string, unknown>[]>`select * from retrieval.jobs order by doc_id, seq`;
  const texts = async () =>
    (await opened.database.sql<{ text: string }[]>`select text from retrieval.chunks order by doc, no`).map(
      (row) => row.text,
    );
  const start = (queue: HintQueue, times: Partial<typeof ingestTimes>, onQueueAway = (): void => undefined) =>
    startIngest(ingest.ports, {
      logger: unwrittenLogger,
      queue,
      onQueueAway,
      concurrency: 2,
      onAttempt: () => undefined,
      dropPartition: async () => undefined,
      removals: [],
      onRemovalFailed: () => undefined,
      times: { ...ingestTimes, pollMs: 3_600_000, reconcileMs: 3_600_000, ...times },
    });

  test('a hint after a submit starts a worker that polls the table only once an hour', async () => {
    const { queue } = scriptedQueue();
    await using _role = start(queue, {});
    await ingest.submit({ docId: 'a', text: 'words' });
    jobHints({ queue, logger: unwrittenLogger, onQueueAway: () => undefined })();
    await until('the job is DONE', async () => (await jobs())[0]?.['status'] === 'DONE');
  });

  verifies(
    ['retrieval:job-state:lost-notification', 'retrieval:job-state:pending-to-running'],
    'a job whose notification was lost stays PENDING until reconciliation publishes it again, and then reaches DONE',
    async () => {
      const { queue, state } = scriptedQueue();
      const seen: unknown[] = [];
      ingest = await openIngest(opened.database, {
        objects,
        onStep: async (step) => {
          if (step === 'claimed') seen.push((await jobs())[0]?.['status']);
        },
      });
      await ingest.submit({ docId: 'a', text: 'words' });
      {
        const hint = jobHints({ queue, logger: unwrittenLogger, onQueueAway: () => undefined });
        const loop = {
          ...ingest.ports,
          logger: unwrittenLogger,
          hint,
          removals: [],
          onRemovalFailed: () => undefined,
          now: () => new Date(),
          everyMs: 20,
        };
        await using _reconciling = startReconciling(loop);
        await until('the hint is published again', () => state.published > 2);
      }
      expect((await jobs())[0]).toMatchObject({ status: 'PENDING', attempt: 0 });
      await using _role = start(queue, { reconcileMs: 20 });
      await until('the job is DONE', async () => (await jobs())[0]?.['status'] === 'DONE');
      expect(seen).toEqual(['RUNNING']);
    },
  );

  test('an unavailable queue is reported for each lost hint and each failed subscription, and jobs are found without it', async () => {
    const { queue: scripted } = scriptedQueue();
    const away = { hints: 0, subscriptions: 0 };
    const refuse = () => Promise.reject(new QueueUnavailableError('unreachable'));
    jobHints({
      queue: { ...scripted, publish: refuse },
      logger: unwrittenLogger,
      onQueueAway: () => (away.hints += 1),
    })();
    await until('the lost hint is reported', () => away.hints === 1);
    await ingest.submit({ docId: 'a', text: 'words' });
    const onQueueAway = (): void => {
      away.subscriptions += 1;
    };
    await using _role = start({ ...scripted, subscribe: refuse }, { pollMs: 20 }, onQueueAway);
    await until('the job is DONE', async () => (await jobs())[0]?.['status'] === 'DONE');
    expect(away).toEqual({ hints: 1, subscriptions: 1 });
  });

  test('a failed removal is counted and retried, and stops neither the next one nor the hints', async () => {
    const { queue, state } = scriptedQueue();
    const away = new SearchUnavailableError('unreachable');
    const seen = { failures: new Set<unknown>(), removed: 0 };
    await ingest.submit({ docId: 'a', text: 'words' });
    await using _reconciling = startReconciling({
      ...ingest.ports,
      logger: unwrittenLogger,
      hint: jobHints({ queue, logger: unwrittenLogger, onQueueAway: () => undefined }),
      removals: [() => Promise.reject(away), async () => (seen.removed += 1)],
      onRemovalFailed: (error) => seen.failures.add(error),
      now: () => new Date(),
      everyMs: 20,
    });
    await until('three rounds have ended', () => seen.removed > 2 && state.published > 2);
    expect([...seen.failures]).toEqual([away]);
  });

  test('a removal that waits for its index delays neither the other removals nor dead letters nor originals', async () => {
    const seen = { began: 0, removed: 0 };
    const waits = (signal: AbortSignal) => {
      seen.began += 1;
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    };
    await ingest.submit({ docId: 'a', text: 'words' }, { docId: 'b', text: 'other words' });
    const { sql } = opened.database;
    await sql`
      update retrieval.jobs set deliveries = 5, status = 'RUNNING', due_at = clock_timestamp() - interval '1 s'
      where doc_id = 'a'`;
    await using reconciling = startReconciling({
      ...ingest.ports,
      logger: unwrittenLogger,
      hint: () => undefined,
      removals: [waits, async () => (seen.removed += 1)],
      onRemovalFailed: () => undefined,
      now: () => new Date(),
      everyMs: 20,
    });
    await until('the first removal waits', () => seen.began === 1);
    await until('the job is a dead letter', async () => (await jobs())[0]?.['dead_lettered_at'] !== null);
    await ingest.drain();
    await until('the job is settled', async () => (await jobs())[1]?.['settled'] === true);
    await until('the other removal was repeated', () => seen.removed > 2);
    await reconciling[Symbol.asyncDispose]();
    expect(seen.began).toBe(1);
  });

  verifies(['retrieval:job-state:done-final'], 'a second delivery of a job that is DONE changes nothing', async () => {
    const { queue } = scriptedQueue();
    await ingest.submit({ docId: 'a', text: 'words' });
    await ingest.drain();
    const before = await jobs();
    await using _role = start(queue, {});
    for (let hint = 0; hint < 5; hint += 1) await queue.publish('ingest_jobs');
    expect(await claimJob(opened.database.sql, 1_000)).toBeUndefined();
    expect(await jobs()).toEqual(before);
  });

  test('masked text is stored and indexed, and a denied original is deleted immediately', async () => {
    await ingest.submit(
      { docId: 'a', text: 'call 555-0100', metadata: { note: '555-0100' } },
      { docId: 'b', text: 'forbidden' },
    );
    await ingest.drain();
    expect(await texts()).toEqual(['call [phone]']);
    const stored = await opened.database
      .sql`select text, metadata, policy_revision from retrieval.documents where doc_id = 'a'`;
    expect(stored[0]).toEqual({ text: 'call [phone]', metadata: { note: '[phone]' }, policy_revision: 'p:1' });
    expect((await jobs())[1]).toMatchObject({ status: 'FAILED', failure_code: 'denied', staged: false });
    expect(objects.keys()).toEqual([]);
  });

  test('masks that make two names of the metadata equal end FAILED, because a member would be lost', async () => {
    await ingest.submit(
      { docId: 'a', text: 'words', metadata: { '555-0100': 'one', '[phone]': 'two' } },
      { docId: 'b', text: 'words', metadata: { '555-0100': 'one' } },
    );
    await ingest.drain();
    expect((await jobs()).map((job) => [job['status'], job['failure_code']])).toEqual([
      ['FAILED', 'malformed'],
      ['DONE', null],
    ]);
    expect((await jobs())[0]?.['failure']).not.toContain('555');
  });

  verifies(
    ['retrieval:delete:content-never-blocks'],
    'a document whose text is denied by the current policy can still be deleted',
    async () => {
      await ingest.submit({ docId: 'a', text: 'words' });
      await ingest.drain();
      const [refused] = await ingest.submit({ docId: 'a', text: 'forbidden' });
      await ingest.drain();
      await ingest.submit({ docId: 'a' });
      await ingest.drain();
      expect(refused?.status).toBe('PENDING');
      expect((await jobs()).map(({ op, status }) => [op, status])).toEqual([
        ['upsert', 'DONE'],
        ['upsert', 'FAILED'],
        ['delete', 'DONE'],
      ]);
      expect(await texts()).toEqual([]);
    },
  );

  test('the document of a content_ref is checked against its hash, with and without prefix, and only its content is used', async () => {
    const uri = 'https://store.example/fetched';
    const hash = fetchedHash(uri);
    await ingest.submit(
      { docId: 'a', ref: { uri, contentHash: hash } },
      { docId: 'b', ref: { uri, contentHash: `sha256:${hash.toUpperCase()}` } },
      { docId: 'c', ref: { uri, contentHash: '0'.repeat(64) } },
    );
    await ingest.drain();
    expect(await texts()).toEqual(['text of /fetched', 'text of /fetched']);
    expect((await jobs())[2]).toMatchObject({ status: 'FAILED', failure_code: 'hash_mismatch' });
  });

  test('a staged object without a job is collected after 24 hours, and that of an open job is kept', async () => {
    await ingest.submit({ docId: 'a', text: 'words' });
    const [kept = ''] = objects.keys();
    await objects.put('staging/t-acme/0190a000-0000-7000-8000-000000000000', new Uint8Array(1));
    await objects.put('staging/t-acme/unknown', new Uint8Array(1));
    const failures: unknown[] = [];
    const collect = (hours: number) => collectStaging(ingest.ports, collecting(hours, failures));
    expect(await collect(23.9)).toBe(0);
    expect(await collect(24.1)).toBe(2);
    expect(objects.keys()).toEqual([kept]);
    expect(failures).toEqual([]);
  });

  test('a staged object that cannot be deleted is reported, and those after it are collected', async () => {
    const away = new ObjectsUnavailableError('denied');
    const refused = new Set(['staging/t-acme/a', 'staging/t-acme/c']);
    const refusing: ObjectStore = {
      ...objects,
      delete: (key) => (refused.has(key) ? Promise.reject(away) : objects.delete(key)),
    };
    for (const name of ['a', 'b', 'c', 'd']) await objects.put(`staging/t-acme/${name}`, new Uint8Array(1));
    const failures: unknown[] = [];
    const collect = () => collectStaging({ ...ingest.ports, objects: refusing }, collecting(25, failures));
    expect(await collect()).toBe(2);
    expect([objects.keys(), failures]).toEqual([[...refused], [away, away]]);
    refused.clear();
    expect(await collect()).toBe(2);
    expect([objects.keys(), failures.length]).toEqual([[], 2]);
  });

  test('staged objects are collected again after one could not be deleted, and one line of the log counts them', async () => {
    const away = new ObjectsUnavailableError('denied');
    const refused = new Set(['staging/t-acme/a', 'staging/t-acme/b']);
    const refusing: ObjectStore = {
      ...objects,
      delete: (key) => (refused.has(key) ? Promise.reject(away) : objects.delete(key)),
    };
    for (const name of ['a', 'b', 'c']) await objects.put(`staging/t-acme/${name}`, new Uint8Array(1));
    const counted: unknown[] = [];
    const lines: unknown[] = [];
    await using _reconciling = startReconciling({
      ...ingest.ports,
      objects: refusing,
      logger: { ...unwrittenLogger, warn: (...line) => void lines.push(line) },
      hint: () => undefined,
      removals: [],
      onRemovalFailed: (error) => counted.push(error),
      now: () => new Date(Date.now() + 25 * 3_600_000),
      everyMs: 20,
    });
    await until('two collections have ended', () => lines.length > 1);
    expect(objects.keys()).toEqual([...refused]);
    expect(counted.slice(0, 4)).toEqual([away, away, away, away]);
    expect(lines[0]).toEqual([
      'ingest_staging_left',
      { count: 2, failure: 'the store of objects refuses access (objects_unavailable)' },
    ]);
    refused.clear();
    await until('the objects are deleted', () => objects.keys().length === 0);
  });
});
