import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sql, TransactionSql } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { openIngest } from '../ingest/testing/open-ingest.ts';
import { listDocuments } from '../query/list-documents.ts';
import { selectJobs } from './job-record.ts';

const documents = 5_000;
const limit = 50;

describe.skipIf(missingPostgres !== undefined)(onPostgres('lists of a large collection'), () => {
  let opened: TestDatabase;
  let collectionId: string;

  beforeAll(async () => {
    opened = await openTestDatabase();
    ({ collectionId } = await openIngest(opened.database));
    await insertDocuments(opened.database, collectionId, { documents, chunksOfEach: 0 });
    const { sql } = opened.database;
    await sql`
      update retrieval.jobs set status = 'FAILED', failure_code = 'denied', available_at = null
      where job_id in (select job_id from retrieval.jobs order by job_id limit 3)`;
    await sql`analyze`;
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  /** The answer of a statement and the rows of a table that it read. */
  function reading<T>(
    table: 'documents' | 'jobs',
    run: (sql: Sql) => Promise<T>,
    settings: (sql: TransactionSql) => Promise<unknown> = async () => undefined,
  ): Promise<{ readonly answer: T; readonly read: number }> {
    return opened.database.sql.begin(async (sql) => {
      const total = async () => {
        const [row] = await sql<{ read: number }[]>`
          select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
          where schemaname = 'retrieval' and relname = ${table}`;
        return row?.read ?? 0;
      };
      await settings(sql);
      const before = await total();
      const answer = await run(sql as unknown as Sql);
      return { answer, read: (await total()) - before };
    });
  }

  test.each([true, false])(
    'a page of documents reads only the documents of the page (writer: %s)',
    async (isWriter) => {
      const visibility = { tenant: 'acme', collectionId, labels: ['group:acme/staff'] };
      const ids = Array.from({ length: documents }, (_, at) => `d${at + 1}`).sort();
      for (const at of [0, 2_500]) {
        const after = at === 0 ? undefined : ids[at - 1];
        const { answer, read } = await reading('documents', (sql) =>
          listDocuments(sql, { visibility, isWriter }, { after, limit }),
        );
        expect(answer.map((document) => document.doc_id)).toEqual(ids.slice(at, at + limit));
        // The planner reads single rows at the ends of an index.
        expect(read).toBeLessThan(2 * limit);
      }
    },
  );

  test('a page of failed jobs reads no job of another state, also with a plan for every value', async () => {
    const { answer, read } = await reading(
      'jobs',
      (sql) => selectJobs(sql, { tenant: 'acme', collectionId }, { state: 'FAILED', before: undefined, limit }),
      (sql) => sql`set local plan_cache_mode = force_generic_plan`,
    );
    expect(answer.map(({ status }) => status)).toEqual(['FAILED', 'FAILED', 'FAILED']);
    expect(answer.map((job) => job.job_id)).toEqual(
      answer
        .map((job) => job.job_id)
        .toSorted()
        .toReversed(),
    );
    expect(read).toBe(3);
  });
});
