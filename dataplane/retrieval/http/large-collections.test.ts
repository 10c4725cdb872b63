import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
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

  test.each([true, false])(
    'a page of documents reads only the documents of the page (writer: %s)',
    async (isWriter) => {
      const visibility = { tenant: 'acme', collectionId, labels: ['group:acme/staff'] };
      const ids = Array.from({ length: documents }, (_, at) => `d${at + 1}`).sort();
      for (const at of [0, 2_500]) {
        const after = at === 0 ? undefined : ids[at - 1];
        const { answer, read } = await readingRows(opened.database, 'retrieval.documents', (sql) =>
          listDocuments(sql, { visibility, isWriter }, { after, limit }),
        );
        expect(answer.map((document) => document.doc_id)).toEqual(ids.slice(at, at + limit));
        // The planner reads single rows at the ends of an index.
        expect(read).toBeLessThan(2 * limit);
      }
    },
  );

  test.each(['force_custom_plan', 'force_generic_plan'])(
    'a page of few visible documents reads a bounded number of rows, with %s',
    async (mode) => {
      const { database } = opened;
      const [own, others] = [await insertCollection(database), await insertCollection(database)];
      await insertDocuments(database, own, { documents, chunksOfEach: 0 });
      await insertDocuments(database, others, { documents: 1_000, chunksOfEach: 0 });
      const { sql } = database;
      await sql`
        update retrieval.documents set labels = '{group:acme/few,public}'
        where collection_id = ${others} or (collection_id = ${own} and doc_id in ('d7', 'd700', 'd3900'))`;
      await sql`update retrieval.documents set labels = '{public}' where collection_id = ${own} and doc_id = 'd3999'`;
      await sql`analyze`;
      const visibility = { tenant: 'acme', collectionId: own, labels: ['group:acme/few', 'user:test|ann', 'public'] };
      const listed = (after: string | undefined, most = limit) =>
        readingRows(
          database,
          'retrieval.documents',
          (one) => listDocuments(one, { visibility, isWriter: false }, { after, limit: most, mostWalked: 500 }),
          (one) => one`select set_config('plan_cache_mode', ${mode}, true)`,
        );
      const idsOf = async (...page: Parameters<typeof listed>) =>
        (await listed(...page)).answer.map((document) => document.doc_id);
      const { answer, read } = await listed(undefined);
      expect(answer.map((document) => document.doc_id)).toEqual(['d3900', 'd3999', 'd7', 'd700']);
      // 500 documents are walked, the ids of 500 more are counted, and the planner reads single rows.
      expect(read).toBeLessThan(2 * 500 + 50);
      expect(await idsOf(undefined, 2)).toEqual(['d3900', 'd3999']);
      expect(await idsOf('d3900', 2)).toEqual(['d3999', 'd7']);
      expect(await idsOf('d7')).toEqual(['d700']);
      expect(await idsOf('d700')).toEqual([]);
      expect(await idsOf('d99')).toEqual([]);
    },
  );

  test('a page of failed jobs reads no job of another state, also with a plan for every value', async () => {
    const { answer, read } = await readingRows(
      opened.database,
      'retrieval.jobs',
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
