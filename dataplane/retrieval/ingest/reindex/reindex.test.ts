import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { retrievalLimits } from '#contracts/retrieval';
import type { JsonValue } from '#kit/json/json-value';
import { until } from '#kit/testing/until';
import { ModelsError } from '#models/models-error';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { findCollection } from '../../collections/collection-record.ts';
import { readBacklog } from '../../monitoring/read-backlog.ts';
import { claimJob } from '../jobs/claim-job.ts';
import type { DocumentGuard } from '../ports.ts';
import { stagedBytes } from '../submit/staged-document.ts';
import { buildToEnd } from '../testing/build-to-end.ts';
import { clearVersions } from '../testing/clear-versions.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels } from '../testing/scripted-models.ts';
import { unwrittenLogger } from '../testing/unwritten-logger.ts';
import { prepareDocument } from '../worker/prepare-document.ts';
import { processJob } from '../worker/process-job.ts';
import { buildNext } from './run-reindexer.ts';
import { startReindex } from './start-reindex.ts';

const text = (words: string) => `${words} `.repeat(30).trim();
const never = new AbortController().signal;

describe.skipIf(missingPostgres !== undefined)(onPostgres('reindex'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let fail: (texts: readonly string[]) => void | Promise<void> = () => undefined;
  let judge: (text: string) => string | 'denied' = (given) => given;

  const bounds = { tenantBytes: Number.POSITIVE_INFINITY, indexBytes: undefined as number | undefined };
  const guard: DocumentGuard = {
    async check(_scope, texts) {
      const judged = texts.map((one) => judge(one));
      if (judged.includes('denied')) return { kind: 'denied', policyRevision: '1' };
      return { kind: 'passed', texts: judged, policyRevision: '1' };
    },
  };

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    fail = () => undefined;
    judge = (given) => given;
    Object.assign(bounds, { tenantBytes: Number.POSITIVE_INFINITY, indexBytes: undefined });
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, {
      models: scriptedModels((texts) => fail(texts)),
      guard,
      bounds,
    });
  });

  const start = (profile?: string) => startReindex(opened.database, ingest.collectionId, profile);
  const build = () => buildToEnd(ingest.ports, never);
  const progress = async () =>
    (await findCollection(opened.database.sql, 'acme', { id: ingest.collectionId }))?.reindex;
  const collection = async () => {
    const { sql } = opened.database;
    return (await sql`select * from retrieval.collections where collection_id = ${ingest.collectionId}`)[0] ?? {};
  };
  /** Visible chunks of each document in a version, as queries read them. */
  const visible = async (version: number) => {
    const rows = await opened.database.sql<{ doc_id: string; chunks: number }[]>`
      select d.doc_id, count(c.no)::int as chunks from retrieval.documents d
      left join retrieval.chunks c on c.doc = d.doc and c.seq = d.live_seq and c.version = ${version}
      where not d.deleted and d.collection_id = ${ingest.collectionId} group by d.doc_id order by d.doc_id`;
    return Object.fromEntries(rows.map((row) => [row.doc_id, row.chunks]));
  };

  verifies(
    [
      'retrieval:reindex:new-version',
      'retrieval:reindex:old-version-stays',
      'retrieval:version:profile-change-needs-reindex',
    ],
    'a reindex builds a new version while the active one serves and switches to it; the old one is removed after its queries',
    async () => {
      await ingest.submit(
        { docId: 'a', text: text('travel') },
        { docId: 'b', text: 'short' },
        { docId: 'gone', text: 'x' },
      );
      await ingest.submit({ docId: 'gone' });
      await ingest.drain();
      expect(await progress()).toBeNull();
      expect(await start('other-profile')).toEqual({ kind: 'building', version: 2 });
      expect(await start('other-profile')).toEqual({ kind: 'building', version: 2 });
      expect(await start()).toEqual({ kind: 'conflict' });
      expect(await progress()).toMatchObject({
        state: 'building',
        documents_total: 2,
        documents_done: 0,
      });
      const before = await visible(1);
      expect(await collection()).toMatchObject({ active_version: 1, embedding_profile_id: 'test-profile' });
      expect(await build()).toBe('switched');
      expect(await collection()).toMatchObject({
        active_version: 2,
        embedding_profile_id: 'other-profile',
        doc_count: 2,
      });
      expect(await visible(2)).toEqual(before);
      expect(await progress()).toBeNull();
      const dropped: unknown[] = [];
      const clear = (graceMs: number) =>
        clearVersions(opened.database, {
          graceMs,
          dropPartition: async (...partition) => void dropped.push(partition),
        });
      expect(await clear(60_000)).toBe(0);
      expect(await visible(1)).toEqual(before);
      expect(await clear(0)).toBe(1);
      expect(await visible(1)).toEqual({ a: 0, b: 0 });
      expect(dropped).toEqual([[ingest.collectionId, 1]]);
      expect(await clear(0)).toBe(0);
      expect(await start('third')).toEqual({ kind: 'building', version: 3 });
    },
  );

  test('documents that change during a reindex are written to both versions, even if their job began before it', async () => {
    await ingest.submit({ docId: 'a', text: 'old' }, { docId: 'b', text: 'kept' }, { docId: 'c', text: 'deleted' });
    await ingest.drain();
    await ingest.submit({ docId: 'a', text: text('new words') }, { docId: 'd', text: 'added' });
    const job = await claimJob(opened.database.sql, 30_000);
    let isStarted = false;
    const onStep = async (step: string): Promise<void> => {
      if (step !== 'written' || isStarted) return;
      isStarted = true;
      await start();
    };
    if (job === undefined) throw new Error('no job is due');
    expect(await processJob({ ...ingest.ports, onStep }, job, never)).toBe('done');
    expect(isStarted).toBe(true);
    expect((await visible(2))[job.docId]).toBe((await visible(1))[job.docId]);
    await ingest.submit({ docId: 'c' });
    await ingest.drain();
    expect(await build()).toBe('switched');
    expect(await visible(2)).toEqual(await visible(1));
    expect(Object.keys(await visible(2))).toEqual(['a', 'b', 'd']);
    const counts = await visible(2);
    expect(await collection()).toMatchObject({
      doc_count: 3,
      chunk_count: Object.values(counts).reduce((a, b) => a + b),
    });
  });

  test('a version that is removed while a job writes to it gets no further chunks, and the job is completed in the new one', async () => {
    await ingest.submit({ docId: 'a', text: 'travel '.repeat(1_500) });
    const job = await claimJob(opened.database.sql, 30_000);
    if (job === undefined) throw new Error('no job is due');
    const { database } = opened;
    let isRemoved = false;
    const onStep = async (step: string): Promise<void> => {
      if (step !== 'written' || isRemoved) return;
      isRemoved = true;
      await start();
      expect(await build()).toBe('switched');
      expect(await clearVersions(database)).toBe(1);
    };
    expect(await processJob({ ...ingest.ports, onStep }, job, never)).toBe('done');
    expect(isRemoved).toBe(true);
    const rows = await database.sql`
      select (select array_agg(distinct version) from retrieval.chunks) as chunks,
        (select array_agg(version) from retrieval.indexed_documents) as documents`;
    expect([...rows]).toEqual([{ chunks: [2], documents: [2] }]);
    expect((await visible(2))['a']).toBeGreaterThan(32);
  });

  test('a document that changes between the read and the write of a reindex is left to its job', async () => {
    await ingest.submit({ docId: 'a', text: 'old' });
    await ingest.drain();
    await start();
    let isChanged = false;
    fail = async ([passage]) => {
      if (isChanged || passage !== 'old') return;
      isChanged = true;
      await ingest.submit({ docId: 'a', text: 'new' });
      await ingest.drain();
    };
    expect(await build()).toBe('switched');
    const { sql } = opened.database;
    const rows = await sql`
      select c.text, c.version from retrieval.chunks c join retrieval.documents d on d.doc = c.doc and d.live_seq = c.seq
      order by c.version`;
    expect(rows).toEqual([
      { text: 'new', version: 1 },
      { text: 'new', version: 2 },
    ]);
  });

  test('a document that its own job has completed in the new version meanwhile is not written again', async () => {
    await ingest.submit({ docId: 'a', text: text('one') }, { docId: 'b', text: text('two') });
    await ingest.drain();
    await start();
    const steps: string[] = [];
    const onStep = async (step: string): Promise<void> => {
      steps.push(step);
      if (steps.filter((one) => one === 'built').length > 1 || step !== 'built') return;
      await ingest.submit({ docId: 'b', text: text('newer') });
      await ingest.drain();
      steps.push('b is complete');
    };
    expect(await buildToEnd({ ...ingest.ports, onStep }, never)).toBe('switched');
    expect(steps.slice(steps.indexOf('b is complete'))).not.toContain('cleared');
    expect(await visible(2)).toEqual(await visible(1));
  });

  test('a reindex is resumed after the death of its worker, and the writes of the earlier worker are refused', async () => {
    await ingest.submit(...['a', 'b', 'c'].map((docId) => ({ docId, text: docId })));
    await ingest.drain();
    await start();
    let calls = 0;
    fail = async () => {
      calls += 1;
      if (calls !== 2) return;
      // The lease of this worker ends while it embeds; another worker builds the version.
      await opened.database
        .sql`update retrieval.index_versions set due_at = clock_timestamp() where state = 'building'`;
      expect(await build()).toBe('switched');
    };
    expect(await build()).toBe('claim_over');
    expect(calls).toBe(4);
    expect(await visible(2)).toEqual({ a: 1, b: 1, c: 1 });
  });

  test('unavailable models pause a reindex, and a document that cannot be embedded keeps the old version serving', async () => {
    await ingest.submit({ docId: 'a', text: 'one' });
    await ingest.drain();
    await start();
    fail = () => {
      throw new ModelsError('unavailable');
    };
    expect(await build()).toBe('released');
    expect(await buildNext(ingest.ports, { logger: unwrittenLogger, leaseMs: 30_000 }, never)).toBeUndefined();
    const { sql } = opened.database;
    await sql`update retrieval.index_versions set unavailable_since = clock_timestamp() - interval '1 hour'`;
    expect((await readBacklog(opened.database)).reindexWaitingSeconds).toBeGreaterThanOrEqual(3_600);
    await sql`update retrieval.index_versions set unavailable_since = null, due_at = clock_timestamp() + interval '1 hour'`;
    expect(await readBacklog(opened.database)).toMatchObject({ reindexWaitingSeconds: 0, failedReindexes: 0 });
    await sql`update retrieval.index_versions set due_at = clock_timestamp() - interval '2 hours'`;
    expect((await readBacklog(opened.database)).reindexWaitingSeconds).toBeGreaterThanOrEqual(7_200);
    fail = () => {
      throw new ModelsError('refused');
    };
    expect(await build()).toBe('failed');
    expect(await progress()).toMatchObject({
      state: 'failed',
      documents_done: 0,
    });
    expect(await collection()).toMatchObject({ active_version: 1 });
    expect(await visible(1)).toEqual({ a: 1 });
    expect(await readBacklog(opened.database)).toMatchObject({ reindexWaitingSeconds: 0, failedReindexes: 1 });
    fail = () => undefined;
    expect(await start()).toEqual({ kind: 'building', version: 3 });
    expect((await readBacklog(opened.database)).failedReindexes).toBe(0);
    expect(await build()).toBe('switched');
  });

  test('a reindex judges stored texts again: a newly masked text is masked in every version, a newly denied one fails it', async () => {
    await ingest.submit({ docId: 'a', text: 'call 555-0100 now' }, { docId: 'b', text: 'plain' });
    await ingest.drain();
    judge = (given) => given.replaceAll('555-0100', '[phone]');
    await start();
    let building: Promise<unknown> | undefined;
    fail = async () => {
      // The first embedding is for the document without a telephone number; the other document has become a job.
      fail = () => undefined;
      building = ingest.drain();
    };
    expect(await build()).toBe('switched');
    await building;
    const rows = await opened.database.sql`select doc_id, text from retrieval.documents order by doc_id`;
    expect(rows).toEqual([
      { doc_id: 'a', text: 'call [phone] now' },
      { doc_id: 'b', text: 'plain' },
    ]);
    expect(await visible(2)).toEqual({ a: 1, b: 1 });
    judge = (given) => (given === 'plain' ? 'denied' : given);
    await start();
    expect(await build()).toBe('failed');
    expect(await collection()).toMatchObject({ active_version: 2 });
  });

  test('jobs of masked texts are listed as the newest ones, in the order in which they were submitted', async () => {
    await ingest.submit(...['a', 'b', 'c', 'd'].map((docId) => ({ docId, text: `call 555-0100 now, ${docId}` })));
    await ingest.drain();
    judge = (given) => given.replaceAll('555-0100', '[phone]');
    await start();
    const building = build();
    await until('the documents are masked', async () => {
      await ingest.drain();
      return (await opened.database.sql`select from retrieval.documents where text like '%[phone]%'`).length === 4;
    });
    await building;
    const jobs = await opened.database.sql<{ doc: string; version: string }[]>`
      select doc_id as doc, substr(job_id::text, 15, 1) as version from retrieval.jobs order by job_id desc`;
    expect(jobs.map(({ doc }) => doc)).toEqual(['d', 'c', 'b', 'a', 'd', 'c', 'b', 'a']);
    expect(new Set(jobs.map(({ version }) => version))).toEqual(new Set(['7']));
  });

  test('a newly masked text replaces the stored one even if the mask is longer and neither the tenant nor the index has room', async () => {
    await ingest.submit({ docId: 'a', text: 'call 555-0100 now' });
    await ingest.drain();
    Object.assign(bounds, { tenantBytes: 1, indexBytes: 1 });
    judge = (given) => given.replaceAll('555-0100', '[the number of a telephone]');
    await start();
    const building = build();
    await until('the masked text is live', async () => {
      await ingest.drain();
      const [row] = await opened.database.sql<{ text: string }[]>`select text from retrieval.documents`;
      return row?.text === 'call [the number of a telephone] now';
    });
    expect(await building).toBe('switched');
    await ingest.submit({ docId: 'b', text: 'plain' });
    await ingest.drain();
    expect(await opened.database.sql`select failure_code from retrieval.jobs where doc_id = 'b'`).toEqual([
      { failure_code: 'tenant_full' },
    ]);
  });

  test.each<[string, JsonValue, string]>([
    ['a long text', { sections: [{ text: 'x'.repeat(retrievalLimits.textUnits) }] }, 'too_large'],
    [
      'many sections',
      { sections: Array.from({ length: retrievalLimits.sections + 1 }, () => ({ text: 'x' })) },
      'malformed',
    ],
  ])(
    '%s that a reindex has masked is stored above every limit, and a submitted one is refused',
    async (_, content, code) => {
      await ingest.submit({ docId: 'a', text: 'words' });
      const job = await claimJob(opened.database.sql, 30_000);
      if (job?.payloadKey == null) throw new Error('no job is due');
      await ingest.ports.objects.put(job.payloadKey, stagedBytes({ content }));
      await expect(prepareDocument(ingest.ports, job, never)).rejects.toMatchObject({ code });
      const masking = { ...job, contentHash: `reindex-${job.jobId}` };
      const { text: prepared } = await prepareDocument(ingest.ports, masking, never);
      expect(prepared.length).toBeGreaterThan(retrievalLimits.sections);
    },
  );
});
