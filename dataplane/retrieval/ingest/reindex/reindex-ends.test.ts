import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { findCollection } from '../../collections/collection-record.ts';
import type { DocumentGuard } from '../ports.ts';
import { buildToEnd } from '../testing/build-to-end.ts';
import { type OpenedIngest, openIngest } from '../testing/open-ingest.ts';
import { scriptedModels } from '../testing/scripted-models.ts';
import { startReindex } from './start-reindex.ts';

const never = new AbortController().signal;

describe.skipIf(missingPostgres !== undefined)(onPostgres('the end of a reindex'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;
  let judge: (text: string) => string | 'denied' = (given) => given;

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
    judge = (given) => given;
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database, { models: scriptedModels(), guard });
  });

  const start = () => startReindex(opened.database, ingest.collectionId, undefined);
  const build = (onStep: (step: string) => void | Promise<void> = () => undefined) =>
    buildToEnd({ ...ingest.ports, onStep }, never);
  const reindex = async () => (await findCollection(opened.database.sql, 'acme', { id: ingest.collectionId }))?.reindex;
  const stored = async () => {
    const rows = await opened.database.sql<{ doc_id: string; text: string }[]>`
      select doc_id, text from retrieval.documents where not deleted order by doc_id`;
    return Object.fromEntries(rows.map((row) => [row.doc_id, row.text]));
  };
  const openJobs = async () => {
    const rows = await opened.database.sql`select from retrieval.jobs where status in ('PENDING', 'RUNNING')`;
    return rows.length;
  };
  const maskNumber = () => {
    judge = (given) => given.replaceAll('555', '[number]');
  };

  verifies(
    ['retrieval:reindex:old-version-stays'],
    'a reindex whose masked text cannot be written ends FAILED with the reason, and a corrected document lets the next one switch',
    async () => {
      await ingest.submit({ docId: 'a', text: 'call 555' }, { docId: 'b', text: 'plain' });
      await ingest.drain();
      maskNumber();
      await start();
      const building = build();
      await until('the masked text is a job', async () => (await openJobs()) > 0 || undefined);
      judge = (given) => (given.includes('[number]') ? 'denied' : given);
      await ingest.drain();
      expect(await building).toBe('failed');
      const [job] = await opened.database.sql<{ job_id: string }[]>`
        select job_id from retrieval.jobs where status = 'FAILED'`;
      expect(await reindex()).toMatchObject({
        state: 'failed',
        failure: expect.stringContaining(`job ${job?.job_id}, which masks a stored text, is FAILED: the policy`),
      });
      maskNumber();
      await start();
      const again = build();
      await until('the masked text is a job', async () => (await openJobs()) > 0 || undefined);
      await ingest.drain();
      expect(await again).toBe('switched');
      expect(await stored()).toEqual({ a: 'call [number]', b: 'plain' });
    },
  );

  test('a failed submit that can be replayed ends a reindex that must mask the text below it; the others are not affected', async () => {
    await ingest.submit({ docId: 'a', text: 'call 555' });
    await ingest.drain();
    judge = (given) => (given === 'newer' ? 'denied' : given);
    await ingest.submit({ docId: 'a', text: 'newer' });
    await ingest.drain();
    const { sql } = opened.database;
    await start();
    expect(await build()).toBe('switched');
    maskNumber();
    await sql`update retrieval.jobs set staged = true where status = 'FAILED'`;
    await start();
    expect(await build()).toBe('failed');
    expect(await reindex()).toMatchObject({ failure: expect.stringContaining('replay it or submit its document') });
    expect(await stored()).toEqual({ a: 'call 555' });
    await sql`update retrieval.jobs set staged = false where status = 'FAILED'`;
    await start();
    const building = build();
    await until('the masked text is a job', async () => (await openJobs()) > 0 || undefined);
    await ingest.drain();
    expect(await building).toBe('switched');
    expect(await stored()).toEqual({ a: 'call [number]' });
  });

  test('documents that wait for their jobs delay no other document, and are judged once', async () => {
    const waiting = Array.from({ length: 100 }, (_, at) => ({ docId: `w${at}`, text: `555 ${at}` }));
    await ingest.submit(...waiting, { docId: 'z', text: 'plain' });
    await ingest.drain();
    let judged = 0;
    judge = (given) => {
      judged += 1;
      return given.replaceAll('555', '[number]');
    };
    await start();
    let isBuilt = false;
    const building = build((step) => {
      isBuilt ||= step === 'built';
    });
    await until('the last document is built', () => isBuilt || undefined);
    expect([await openJobs(), judged]).toEqual([100, 101]);
    await ingest.drain();
    expect(await building).toBe('switched');
  });

  test('a masked text keeps the dates between which its document may be found, though the policy masks dates', async () => {
    const metadata = { valid_from: '2020-01-01T03:00:00+03:00', valid_until: '2099-12-31T00:00:00Z' };
    await ingest.submit({ docId: 'a', text: 'call 555', metadata });
    await ingest.drain();
    judge = (given) => given.replaceAll('555', '[number]').replace(/^2020.*/, '[date]');
    await start();
    const building = build();
    await until('the masked text is a job', async () => (await openJobs()) > 0 || undefined);
    await ingest.drain();
    expect(await building).toBe('switched');
    const rows = await opened.database.sql`select valid_from, valid_until, metadata from retrieval.documents`;
    expect(rows).toEqual([
      {
        valid_from: new Date('2020-01-01T00:00:00Z'),
        valid_until: new Date('2099-12-31T00:00:00Z'),
        metadata: { valid_from: '[date]', valid_until: '2099-12-31T00:00:00Z' },
      },
    ]);
  });

  test('a document that is deleted or removed while its text is judged is not submitted again', async () => {
    await ingest.submit(
      { docId: 'a', text: 'call 555' },
      { docId: 'b', text: 'call 555' },
      { docId: 'c', text: 'plain' },
    );
    await ingest.drain();
    const { sql } = opened.database;
    const put = ingest.ports.objects.put.bind(ingest.ports.objects);
    let puts = 0;
    const objects = {
      ...ingest.ports.objects,
      async put(...given: Parameters<typeof put>) {
        puts += 1;
        await put(...given);
        if (puts === 1) await sql`update retrieval.documents set deleted = true where doc_id = 'a'`;
        else await sql`delete from retrieval.documents where doc_id = 'b'`;
      },
    };
    maskNumber();
    await start();
    const ports = { ...ingest.ports, objects };
    expect(await buildToEnd(ports, never)).toBe('switched');
    expect(puts).toBe(2);
    expect(await sql`select doc_id, deleted from retrieval.documents order by doc_id`).toEqual([
      { doc_id: 'a', deleted: true },
      { doc_id: 'c', deleted: false },
    ]);
    expect(await openJobs()).toBe(0);
  });

  test('a reindex whose workers are killed repeatedly fails after 24 hours without progress', async () => {
    await ingest.submit({ docId: 'a', text: 'one' });
    await ingest.drain();
    await start();
    const { sql } = opened.database;
    const kill = async () => {
      await expect(build(() => new Promise<never>((_, reject) => reject(new Error('killed'))))).resolves.toBe(
        'released',
      );
      await sql`update retrieval.index_versions set due_at = clock_timestamp() where state = 'building'`;
    };
    await kill();
    await sql`update retrieval.index_versions set unavailable_since = null where state = 'building'`;
    await kill();
    const age = (hours: number) => sql`
      update retrieval.index_versions set unavailable_since = clock_timestamp() - ${hours} * interval '1 hour'
      where state = 'building'`;
    await age(23.9);
    await kill();
    expect(await reindex()).toMatchObject({ state: 'building' });
    await age(24);
    expect(await build()).toBeUndefined();
    expect(await reindex()).toMatchObject({ state: 'failed', failure: expect.stringContaining('24 hours') });
    await start();
    expect(await build()).toBe('switched');
  });
});
