import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { failingAtConflicts } from '#sql/testing/failing-at-conflicts';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { buryJobs, replayJob } from '../jobs/dead-letters.ts';
import { settleJobs } from '../jobs/settle-jobs.ts';
import { type MemoryObjects, memoryObjects } from '../testing/memory-objects.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels } from '../testing/scripted-models.ts';

const text = (words: string) => `${words} `.repeat(30).trim();

const rethrow = (error: unknown): never => {
  throw error;
};

describe.skipIf(missingPostgres !== undefined)(onPostgres('ingest'), () => {
  let test1: TestDatabase;
  let objects: MemoryObjects;
  let ingest: OpenedIngest;
  let fail: () => void | Promise<void> = () => undefined;
  let failObjects: () => void = () => undefined;

  beforeAll(async () => {
    test1 = await openTestDatabase();
  });
  afterAll(async () => {
    await test1[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    fail = () => undefined;
    failObjects = () => undefined;
    objects = memoryObjects(() => failObjects());
    await test1.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(failingAtConflicts(test1.database), { objects, models: scriptedModels(() => fail()) });
  });

  const sql: TestDatabase['database']['sql'] = ((...args: Parameters<TestDatabase['database']['sql']>) =>
    test1.database.sql(...args)) as never;
  const jobOf = async (jobId: string) => (await sql`select * from retrieval.jobs where job_id = ${jobId}`)[0] ?? {};
  const collection = async () =>
    (await sql`select * from retrieval.collections where collection_id = ${ingest.collectionId}`)[0] ?? {};
  const chunksOf = (docId: string) =>
    sql<{ text: string; seq: string; version: number }[]>`
      select c.text, c.seq, c.version from retrieval.chunks c join retrieval.documents d using (doc)
      where d.doc_id = ${docId} and d.collection_id = ${ingest.collectionId} order by c.seq, c.version, c.no`;
  const dueNow = () => sql`update retrieval.jobs set due_at = clock_timestamp() where status in ('PENDING', 'RUNNING')`;

  verifies(
    [
      'retrieval:job-state:running-to-done',
      'retrieval:job-state:done-sets-available-at',
      'retrieval:collection-state:ready',
    ],
    'a submitted document is staged, chunked and DONE; the collection counts it, and the staged object is deleted',
    async () => {
      const [entry] = await ingest.submit({ docId: 'a', text: text('travel rules') });
      expect(entry).toMatchObject({ docId: 'a', status: 'PENDING' });
      expect(objects.keys()).toEqual([`staging/t-acme/${entry?.jobId}`]);
      expect(await jobOf(entry?.jobId ?? '')).toMatchObject({ status: 'PENDING', attempt: 0, available_at: null });
      expect(await collection()).toMatchObject({ status: 'populating', doc_count: 0 });
      // A deletion alone adds no document.
      await ingest.submit({ docId: 'unknown' });
      expect(await ingest.work()).toBe('done');
      expect(await collection()).toMatchObject({ status: 'populating', doc_count: 0 });
      expect(await ingest.work()).toBe('done');
      const job = await jobOf(entry?.jobId ?? '');
      expect(job).toMatchObject({ status: 'DONE', attempt: 1, failure: null, staged: false });
      expect(job['available_at']).toBeInstanceOf(Date);
      const chunks = await chunksOf('a');
      expect(chunks.length).toBeGreaterThan(1);
      expect(await collection()).toMatchObject({
        status: 'ready',
        doc_count: 1,
        chunk_count: chunks.length,
        change_no: '2',
      });
      expect(objects.keys()).toEqual([]);
      expect(await ingest.work()).toBeUndefined();
    },
  );

  verifies(
    ['retrieval:submit:deduplicated', 'retrieval:submit:deduplicated-no-new-job', 'retrieval:submit:one-key-differs'],
    'a repeated submit returns the first job and stages nothing; after a delete it restores the document',
    async () => {
      const [first] = await ingest.submit({ docId: 'a', text: 'one' });
      const [again] = await ingest.submit({ docId: 'a', text: 'one' });
      expect(again).toEqual({ docId: 'a', jobId: first?.jobId, status: 'DEDUPLICATED', isSuperseded: false });
      expect(objects.keys()).toHaveLength(1);
      const others = await ingest.submit(
        { docId: 'a', text: 'one', key: 'k2' },
        { docId: 'a', text: 'two' },
        { docId: 'b', text: 'one' },
      );
      expect(others.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'PENDING']);
      const [gone] = await ingest.submit({ docId: 'a' });
      const [goneAgain] = await ingest.submit({ docId: 'a' });
      expect([gone?.status, goneAgain?.status, goneAgain?.jobId]).toEqual(['PENDING', 'DEDUPLICATED', gone?.jobId]);
      const [back, backAgain] = await ingest.submit({ docId: 'a', text: 'one' }, { docId: 'a', text: 'one' });
      expect([back?.status, backAgain?.status]).toEqual(['PENDING', 'DEDUPLICATED']);
      expect(backAgain?.jobId).toBe(back?.jobId);
      await ingest.drain();
      expect((await chunksOf('a')).map((chunk) => chunk.text)).toEqual(['one']);
      expect(await collection()).toMatchObject({ doc_count: 2, chunk_count: 2 });
      expect(objects.keys()).toEqual([]);
    },
  );

  test('concurrent submits of the same documents are accepted once each and do not deadlock', async () => {
    const ids = Array.from({ length: 20 }, (_, at) => `d${at}`);
    const batch = (order: readonly string[]) => ingest.submit(...order.map((docId) => ({ docId, text: docId })));
    const answers = await Promise.all([batch(ids), batch(ids.toReversed()), batch(ids), batch(ids.toReversed())]);
    const accepted = answers.flat().filter(({ status }) => status === 'PENDING');
    expect(accepted.map(({ docId }) => docId).sort()).toEqual([...ids].sort());
    expect(new Set(answers.flat().map(({ jobId }) => jobId)).size).toBe(ids.length);
    expect(objects.keys()).toHaveLength(ids.length);
  });

  test('a job that a later one supersedes ends DONE with it, and never restores its older text', async () => {
    const [older] = await ingest.submit({ docId: 'a', text: 'older' });
    const [newer] = await ingest.submit({ docId: 'a', text: 'newer' });
    await sql`update retrieval.jobs set due_at = clock_timestamp() + interval '1 hour' where job_id = ${older?.jobId ?? ''}`;
    expect(await ingest.work()).toBe('done');
    expect(await jobOf(older?.jobId ?? '')).toMatchObject({ status: 'DONE', attempt: 0, settled: true });
    expect(await jobOf(newer?.jobId ?? '')).toMatchObject({ status: 'DONE' });
    expect((await chunksOf('a')).map((chunk) => chunk.text)).toEqual(['newer']);
    expect(objects.keys()).toEqual([]);
    expect(await ingest.work()).toBeUndefined();
  });

  test('a delete does not wait for an earlier job, and a later replay of that job restores nothing', async () => {
    const [denied] = await ingest.submit({ docId: 'a', text: 'old' });
    fail = () => {
      throw new ModelsError('refused');
    };
    expect(await ingest.work()).toBe('failed');
    fail = () => undefined;
    const [gone] = await ingest.submit({ docId: 'a' });
    expect(await ingest.work()).toBe('done');
    expect(await jobOf(gone?.jobId ?? '')).toMatchObject({ status: 'DONE', payload_uri: null });
    expect(await replayJob(test1.database.sql, { tenant: 'acme', jobId: denied?.jobId ?? '' })).toBe('replayed');
    expect(await ingest.work()).toBe('done');
    expect(await chunksOf('a')).toEqual([]);
    expect(await collection()).toMatchObject({ doc_count: 0, chunk_count: 0 });
    expect(objects.keys()).toEqual([]);
  });

  verifies(
    ['retrieval:job-state:running-to-failed', 'retrieval:job-state:failed-fills-error'],
    'a processing error ends the job FAILED with a reason and leaves the previous version unchanged',
    async () => {
      await ingest.submit({ docId: 'a', text: 'good' });
      await ingest.drain();
      const [bad] = await ingest.submit({ docId: 'a', text: 'bad' });
      fail = () => {
        throw new ModelsError('denied');
      };
      expect(await ingest.work()).toBe('failed');
      const job = await jobOf(bad?.jobId ?? '');
      expect(job).toMatchObject({
        status: 'FAILED',
        failure_code: 'denied',
        available_at: null,
        dead_lettered_at: null,
      });
      expect(job['failure']).toMatch(/denied the text/);
      expect((await chunksOf('a')).map((chunk) => chunk.text)).toEqual(['good']);
      expect(objects.keys()).toEqual([]);
    },
  );

  test('a job that fails after a later one has superseded it stays DONE, and its attempt is not counted as failed', async () => {
    const [older] = await ingest.submit({ docId: 'a', text: 'older' });
    fail = async () => {
      fail = () => undefined;
      await ingest.submit({ docId: 'a' });
      expect(await ingest.work()).toBe('done');
      throw new ModelsError('refused');
    };
    expect(await ingest.work()).toBe('claim_over');
    expect(await jobOf(older?.jobId ?? '')).toMatchObject({ status: 'DONE', failure_code: null, settled: true });
    expect(await chunksOf('a')).toEqual([]);
  });

  test('an unavailable dependency leaves the job RUNNING with retry_at and counts no delivery; after 24 hours it is a dead letter', async () => {
    const [entry] = await ingest.submit({ docId: 'a', text: 'one' });
    fail = () => {
      throw new ModelsError('unavailable');
    };
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      expect(await ingest.work()).toBe('released');
      const job = await jobOf(entry?.jobId ?? '');
      expect(job).toMatchObject({ status: 'RUNNING', attempt, deliveries: 0, failure: null });
      expect(job['retry_at']).toBeInstanceOf(Date);
      expect(await ingest.work()).toBeUndefined();
      await dueNow();
    }
    await sql`update retrieval.jobs set unavailable_since = clock_timestamp() - interval '23 hours 59 minutes'`;
    expect(await ingest.work()).toBe('released');
    expect(await jobOf(entry?.jobId ?? '')).toMatchObject({ status: 'RUNNING' });
    await sql`update retrieval.jobs set unavailable_since = clock_timestamp() - interval '24 hours'`;
    await dueNow();
    expect(await ingest.work()).toBe('released');
    const dead = await jobOf(entry?.jobId ?? '');
    expect(dead).toMatchObject({ status: 'FAILED', failure_code: 'dependency_unavailable', deliveries: 0 });
    expect(dead['dead_lettered_at']).toBeInstanceOf(Date);
    fail = () => undefined;
    expect(await replayJob(test1.database.sql, { tenant: 'other', jobId: entry?.jobId ?? '' })).toBe('absent');
    expect(await replayJob(test1.database.sql, { tenant: 'acme', jobId: entry?.jobId ?? '' })).toBe('replayed');
    expect(await ingest.work()).toBe('done');
    expect(await jobOf(entry?.jobId ?? '')).toMatchObject({ status: 'DONE', seq: '1', unavailable_since: null });
    expect(await replayJob(test1.database.sql, { tenant: 'acme', jobId: entry?.jobId ?? '' })).toBe('not_failed');
  });

  test('an unavailable staging store releases the job like any other dependency', async () => {
    await ingest.submit({ docId: 'a', text: 'one' });
    failObjects = () => {
      throw new ObjectsUnavailableError('unreachable');
    };
    expect(await ingest.work()).toBe('released');
    failObjects = () => undefined;
    await dueNow();
    expect(await ingest.work()).toBe('done');
  });

  verifies(
    ['retrieval:limits:dead-letter'],
    'a delivery without an answer is repeated, the sixth makes the job a dead letter, and its replay succeeds',
    async () => {
      const [entry] = await ingest.submit({ docId: 'a', text: 'one' });
      fail = () => {
        throw new TypeError('a defect');
      };
      for (let delivery = 1; delivery <= 5; delivery += 1) {
        expect(await buryJobs(test1.database.sql)).toBe(0);
        expect(await ingest.work()).toBe('abandoned');
        expect(await jobOf(entry?.jobId ?? '')).toMatchObject({ status: 'RUNNING', deliveries: delivery });
        expect(await ingest.work()).toBeUndefined();
        await dueNow();
      }
      expect(await ingest.work()).toBeUndefined();
      expect(await buryJobs(test1.database.sql)).toBe(1);
      expect(await jobOf(entry?.jobId ?? '')).toMatchObject({ status: 'FAILED', failure_code: 'too_many_deliveries' });
      fail = () => undefined;
      expect(await replayJob(test1.database.sql, { tenant: 'acme', jobId: entry?.jobId ?? '' })).toBe('replayed');
      expect(await ingest.work()).toBe('done');
      expect(await jobOf(entry?.jobId ?? '')).toMatchObject({
        status: 'DONE',
        job_id: entry?.jobId,
        seq: '1',
        attempt: 6,
      });
    },
  );

  test('the original of a FAILED job is kept for seven days and then deleted; the job cannot be replayed afterwards', async () => {
    const [entry] = await ingest.submit({ docId: 'a', text: 'one' });
    fail = () => {
      throw new ModelsError('refused');
    };
    await ingest.work();
    await sql`update retrieval.jobs set updated_at = clock_timestamp() - interval '6 days 23 hours'`;
    await settleJobs(ingest.ports, rethrow);
    expect(objects.keys()).toHaveLength(1);
    await sql`update retrieval.jobs set updated_at = clock_timestamp() - interval '7 days 1 second'`;
    await settleJobs(ingest.ports, rethrow);
    expect(objects.keys()).toEqual([]);
    expect(await replayJob(test1.database.sql, { tenant: 'acme', jobId: entry?.jobId ?? '' })).toBe('original_deleted');
  });
});
