import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { replayJob } from '../jobs/dead-letters.ts';
import type { DocumentGuard } from '../ports.ts';
import { openIngest } from '../testing/open-ingest.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('a document that a policy denied'), () => {
  let opened: TestDatabase;
  let denies = true;
  const guard: DocumentGuard = {
    async check(_scope, texts) {
      return denies ? { kind: 'denied', policyRevision: 'p:1' } : { kind: 'passed', texts, policyRevision: 'p:2' };
    },
  };

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  test('a document that the policy denied is stored under another idempotency_key after the policy has changed: a replay is refused and the same key is a duplicate', async () => {
    const ingest = await openIngest(opened.database, { guard });
    const { sql } = opened.database;
    const statusOf = async (jobId = '') =>
      (await sql<{ status: string }[]>`select status from retrieval.jobs where job_id = ${jobId}`)[0]?.status;
    const [first] = await ingest.submit({ docId: 'a', text: 'one', key: 'first' });
    await ingest.drain();
    expect(await statusOf(first?.jobId)).toBe('FAILED');
    denies = false;
    expect(await replayJob(sql, { tenant: 'acme', jobId: first?.jobId ?? '' })).toBe('original_deleted');
    const [same] = await ingest.submit({ docId: 'a', text: 'one', key: 'first' });
    expect(same).toEqual({ docId: 'a', jobId: first?.jobId, status: 'DEDUPLICATED', isSuperseded: false });
    const [other] = await ingest.submit({ docId: 'a', text: 'one', key: 'second' });
    expect(other?.status).toBe('PENDING');
    await ingest.drain();
    expect(await statusOf(other?.jobId)).toBe('DONE');
  });
});
