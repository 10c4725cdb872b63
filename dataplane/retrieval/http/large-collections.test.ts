import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '#sql/connect';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { openIngest } from '../ingest/testing/open-ingest.ts';
import { listDocuments } from '../query/list-documents.ts';

const documents = 5_000;
const limit = 50;

describe.skipIf(missingPostgres !== undefined)(onPostgres('lists of a large collection'), () => {
  let opened: TestDatabase;
  let collectionId: string;

  beforeAll(async () => {
    opened = await openTestDatabase();
    ({ collectionId } = await openIngest(opened.database));
    await insertDocuments(opened.database, collectionId, { documents, chunksOfEach: 0 });
    await opened.database.sql`analyze`;
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  /** The answer of a statement and the rows of a table that it read. */
  function reading<T>(
    table: 'documents' | 'jobs',
    run: (sql: Sql) => Promise<T>,
  ): Promise<{ readonly answer: T; readonly read: number }> {
    return opened.database.sql.begin(async (sql) => {
      const total = async () => {
        const [row] = await sql<{ read: number }[]>`
          select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables
          where schemaname = 'retrieval' and relname = ${table}`;
        return row?.read ?? 0;
      };
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
});
