import { describe, expect, test } from 'vitest';
import { ModelsError } from '#models/models-error';
import { ObjectsUnavailableError } from '#objects/objects-error';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { clearChunks } from '../commit/write-chunks.ts';
import { mostChunksRemoved } from '../remove-chunks.ts';
import { insertDocuments } from '../testing/insert-documents.ts';
import { memoryObjects } from '../testing/memory-objects.ts';
import { openIngest } from '../testing/open-ingest.ts';
import { countRemovedRows } from '../testing/removed-rows.ts';
import { scriptedModels } from '../testing/scripted-models.ts';
import { replayJob } from './dead-letters.ts';
import { settleJobs } from './settle-jobs.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('chunks that are no longer shown'), () => {
  test('replaced chunks are removed in transactions of a bounded size, and the live ones stay', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const ingest = await openIngest(database);
    await insertDocuments(database, ingest.collectionId, { documents: 1, chunksOfEach: mostChunksRemoved + 1 });
    await sql`update retrieval.documents set last_seq = 2, live_seq = 2`;
    await sql`
      insert into retrieval.chunks (doc, seq, version, no, chunk_id, start_at, end_at, text, tokens, terms, vector)
      select doc, 2, 1, 1, 'second', 0, 5, 'otter', 1, 'otter', '' from retrieval.documents`;
    await sql`update retrieval.jobs set settled = false, updated_at = now() - interval '1 minute'`;
    const removed = await countRemovedRows(database, 'chunks');
    const faults: unknown[] = [];
    await settleJobs(ingest.ports, (fault) => faults.push(fault));
    expect(faults).toEqual([]);
    expect(await removed()).toEqual([mostChunksRemoved, 1]);
    expect([...(await sql`select seq::int from retrieval.chunks`)]).toEqual([{ seq: 2 }]);
  });

  test('chunks of an earlier attempt are removed in transactions of a bounded size while the condition holds', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const ingest = await openIngest(database);
    await insertDocuments(database, ingest.collectionId, { documents: 1, chunksOfEach: 2 * mostChunksRemoved + 1 });
    const [row] = await database.sql<{ doc: string }[]>`select doc from retrieval.documents`;
    const target = { doc: row?.doc ?? '', seq: '1', version: 1 };
    const removed = await countRemovedRows(database, 'chunks');
    let asked = 0;
    const once = async () => {
      asked += 1;
      return asked === 1;
    };
    expect(await clearChunks(database, target, { from: 0, condition: once })).toBe(false);
    expect(await removed()).toEqual([mostChunksRemoved]);
    expect(await clearChunks(database, target, { from: 0, condition: async () => true })).toBe(true);
    expect(await removed()).toEqual([mostChunksRemoved, mostChunksRemoved, 1]);
  });

  test('a job whose data cannot be removed does not delay other jobs', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const ingest = await openIngest(database);
    await insertDocuments(database, ingest.collectionId, { documents: 2, chunksOfEach: 1 });
    await sql`update retrieval.jobs set settled = false, updated_at = now() - interval '1 minute' * (3 - doc)`;
    const [first] = await sql<{ job: string }[]>`select job_id as job from retrieval.jobs order by updated_at limit 1`;
    await sql`
      create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`;
    await sql.unsafe(`create trigger refused before update on retrieval.jobs
      for each row when (old.job_id = '${first?.job}') execute function public.refuse()`);
    const faults: unknown[] = [];
    await settleJobs(ingest.ports, (fault) => faults.push(fault));
    expect(faults).toHaveLength(1);
    const left = await sql`select job_id as job from retrieval.jobs where not settled`;
    expect([...left]).toEqual([{ job: first?.job }]);
  });

  test('a failed job whose original is being deleted is not replayed, and one that is replayed before keeps its original', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const objects = memoryObjects();
    const replay = () => replayJob(sql, { tenant: 'acme', jobId: entry?.jobId ?? '' });
    const outcomes: unknown[] = [];
    const ingest = await openIngest(database, {
      objects: {
        ...objects,
        async delete(key) {
          outcomes.push(await replay());
          await objects.delete(key);
        },
      },
      models: scriptedModels(() => {
        throw new ModelsError('refused');
      }),
    });
    const [entry] = await ingest.submit({ docId: 'a', text: 'one' });
    expect(await ingest.work()).toBe('failed');
    await sql`update retrieval.jobs set updated_at = now() - interval '8 days'`;
    const rethrow = (error: unknown): never => {
      throw error;
    };
    expect(await replay()).toBe('replayed');
    await settleJobs(ingest.ports, rethrow);
    expect([outcomes, objects.keys().length]).toEqual([[], 1]);
    expect(await ingest.work()).toBe('failed');
    await sql`update retrieval.jobs set updated_at = now() - interval '8 days'`;
    await settleJobs(ingest.ports, rethrow);
    expect([outcomes, objects.keys()]).toEqual([['original_deleted'], []]);
    expect(await ingest.work()).toBeUndefined();
  });

  test('a deletion removes the staged original of an earlier failed job, and the persons whom it named; its replay changes nothing', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const objects = memoryObjects();
    const models = scriptedModels(() => {
      throw new ModelsError('refused');
    });
    const ingest = await openIngest(opened.database, { objects, models });
    const [failed] = await ingest.submit({ docId: 'a', text: 'private words' });
    await ingest.drain();
    expect(objects.keys()).toHaveLength(1);
    await ingest.submit({ docId: 'other', text: 'other words' });
    await ingest.drain();
    await ingest.submit({ docId: 'a' });
    await ingest.drain();
    const rows = () => sql<{ doc: string; status: string; named: number }[]>`
      select doc_id as doc, status, cardinality(labels) as named from retrieval.jobs order by doc_id, seq`;
    expect([...(await rows())]).toEqual([
      { doc: 'a', status: 'FAILED', named: 0 },
      { doc: 'a', status: 'DONE', named: 0 },
      { doc: 'other', status: 'FAILED', named: 1 },
    ]);
    // The job of the other document may still be replayed, so that its original is kept.
    expect(objects.keys()).toHaveLength(1);
    expect(await replayJob(sql, { tenant: 'acme', jobId: failed?.jobId ?? '' })).toBe('replayed');
    await ingest.drain();
    expect((await rows())[0]).toMatchObject({ status: 'DONE' });
    expect([...(await sql`select deleted from retrieval.documents where doc_id = 'a'`)]).toEqual([{ deleted: true }]);
  });

  test('a round settles failed jobs that were superseded by a later job, and removes the labels of settled jobs of an earlier release', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const objects = memoryObjects();
    const ingest = await openIngest(database, { objects });
    await insertDocuments(database, ingest.collectionId, { documents: 2, chunksOfEach: 0 });
    await objects.put('left', new Uint8Array());
    await sql`
      update retrieval.jobs set status = 'FAILED', failure_code = 'x', available_at = null, settled = false, staged = true,
        payload_key = 'left', labels = '{group:acme/staff}' where doc_id = 'd1'`;
    await sql`update retrieval.documents set last_seq = 2, live_seq = 2 where doc_id = 'd1'`;
    await sql`update retrieval.jobs set settled = true, labels = '{group:acme/staff}' where doc_id = 'd2'`;
    await settleJobs(ingest.ports, (fault) => {
      throw fault;
    });
    expect(objects.keys()).toEqual([]);
    expect([...(await sql`select labels, settled from retrieval.jobs`)]).toEqual([
      { labels: [], settled: true },
      { labels: [], settled: true },
    ]);
  });

  test('a job whose staged object cannot be deleted pauses, and those after it are settled by the next round', async () => {
    await using opened = await openTestDatabase();
    const { database } = opened;
    const { sql } = database;
    const objects = memoryObjects();
    let unreachable = 'd1';
    const ingest = await openIngest(database, {
      objects: {
        ...objects,
        async delete(key) {
          if (key === unreachable) throw new ObjectsUnavailableError('unreachable');
          await objects.delete(key);
        },
      },
    });
    await insertDocuments(database, ingest.collectionId, { documents: 3, chunksOfEach: 1 });
    await sql`
      update retrieval.jobs set settled = false, staged = true, payload_key = doc_id,
        updated_at = now() - interval '1 minute' * (4 - doc)`;
    for (const key of ['d1', 'd2', 'd3']) await objects.put(key, new Uint8Array());
    const left = async () => {
      const rows = await sql<{ doc: string; waits: boolean }[]>`
        select doc_id as doc, retry_at > clock_timestamp() as waits from retrieval.jobs
        where not settled order by updated_at`;
      return rows.map(({ doc, waits }) => (waits ? `${doc} waits` : doc));
    };
    const faults: unknown[] = [];
    const round = () => settleJobs(ingest.ports, (fault) => faults.push(fault));
    await round();
    expect([await left(), objects.keys()]).toEqual([
      ['d1 waits', 'd2', 'd3'],
      ['d1', 'd2', 'd3'],
    ]);
    await round();
    expect([await left(), objects.keys(), faults.length]).toEqual([['d1 waits'], ['d1'], 1]);
    unreachable = '';
    await round();
    expect(objects.keys()).toEqual(['d1']);
    await sql`update retrieval.jobs set retry_at = clock_timestamp() where not settled`;
    await round();
    expect([await left(), objects.keys(), faults.length]).toEqual([[], [], 1]);
  });

  test('a deletion that is replayed after its remains were removed removes the chunks of its document', async () => {
    await using opened = await openTestDatabase();
    const { sql } = opened.database;
    const ingest = await openIngest(opened.database);
    await ingest.submit({ docId: 'a', text: 'words' });
    await ingest.drain();
    const [deletion] = await ingest.submit({ docId: 'a' });
    await sql`
      update retrieval.jobs set status = 'FAILED', failure_code = 'too_many_deliveries', updated_at = now() - interval '8 days'
      where op = 'delete'`;
    await settleJobs(ingest.ports, (fault) => {
      throw fault;
    });
    const remains = async () => [
      ...(await sql`
        select j.settled, (select count(*)::int from retrieval.chunks) as chunks from retrieval.jobs j where op = 'delete'`),
    ];
    expect(await remains()).toEqual([{ settled: true, chunks: 1 }]);
    expect(await replayJob(sql, { tenant: 'acme', jobId: deletion?.jobId ?? '' })).toBe('replayed');
    await ingest.drain();
    expect(await remains()).toEqual([{ settled: true, chunks: 0 }]);
  });

  test('the attempt of a denied job removes its own original, and leaves other failed jobs to the next round', async () => {
    await using opened = await openTestDatabase();
    const objects = memoryObjects();
    let refusal: 'refused' | 'denied' = 'refused';
    const models = scriptedModels(() => {
      throw new ModelsError(refusal);
    });
    const ingest = await openIngest(opened.database, { objects, models });
    await ingest.submit({ docId: 'a', text: 'kept' });
    expect(await ingest.work()).toBe('failed');
    await opened.database.sql`update retrieval.jobs set updated_at = now() - interval '8 days'`;
    refusal = 'denied';
    await ingest.submit({ docId: 'b', text: 'denied' });
    expect(await ingest.work()).toBe('failed');
    const settled = await opened.database.sql`
      select doc_id as doc, failure_code as code, settled from retrieval.jobs order by doc_id`;
    expect([...settled]).toEqual([
      { doc: 'a', code: expect.any(String), settled: false },
      { doc: 'b', code: 'denied', settled: true },
    ]);
    expect(objects.keys()).toHaveLength(1);
  });
});
