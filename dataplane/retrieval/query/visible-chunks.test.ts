import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { Sql } from '#sql/connect';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { timeIfSomeAreInvalid, visibleLength, visibleTexts } from './visible-chunks.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the validity of the documents of a collection'), () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase();
    await openIngest(opened.database);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  type Bounds = { readonly from?: string; readonly until?: string; readonly isDeleted?: boolean };

  /** A collection with documents that have these dates, as expressions of SQL, and with one document without dates. */
  async function collectionWith(count: number, { from = 'null', until: end = 'null', isDeleted = false }: Bounds) {
    const { database } = opened;
    const collectionId = await insertCollection(database);
    await insertDocuments(database, collectionId, { documents: count, chunksOfEach: 0 });
    await database.sql`
      update retrieval.documents set valid_from = ${database.sql.unsafe(from)}, valid_until = ${database.sql.unsafe(end)},
        deleted = ${isDeleted}
      where collection_id = ${collectionId}`;
    await insertDocuments(database, collectionId, { documents: 1, chunksOfEach: 0 });
    return collectionId;
  }

  const timeOf = (collectionId: string) => timeIfSomeAreInvalid(opened.database.sql, collectionId);

  test.each<[string, Bounds, 'all' | 'some']>([
    ['no bounds', {}, 'all'],
    ['a beginning in the past', { from: `now() - interval '1 second'` }, 'all'],
    ['a beginning in the future', { from: `now() + interval '1 hour'` }, 'some'],
    ['an end in the future', { until: `now() + interval '1 hour'` }, 'all'],
    ['an end in the past', { until: `now() - interval '1 second'` }, 'some'],
    ['both, and is valid', { from: `now() - interval '1 hour'`, until: `now() + interval '1 hour'` }, 'all'],
    ['both, and is not valid yet', { from: `now() + interval '1 hour'`, until: `now() + interval '2 hours'` }, 'some'],
    ['both, and is over', { from: `now() - interval '2 hours'`, until: `now() - interval '1 hour'` }, 'some'],
    ['an end in the past, and is deleted', { until: `now() - interval '1 hour'`, isDeleted: true }, 'all'],
  ])('a document has %s: %j, so that %s are valid', async (_, bounds, expected) => {
    const time = await timeOf(await collectionWith(1, bounds));
    if (expected === 'all') expect(time).toBeUndefined();
    else expect(time).toEqual(expect.any(Number));
  });

  test('a document becomes valid, and another one ends, with the clock of the database', async () => {
    const begins = await collectionWith(1, { from: `clock_timestamp() + interval '6 seconds'` });
    const ends = await collectionWith(1, { until: `clock_timestamp() + interval '6 seconds'` });
    expect(await timeOf(begins)).toEqual(expect.any(Number));
    expect(await timeOf(ends)).toBeUndefined();
    await until('both are over', async () => {
      const over = (await timeOf(begins)) === undefined && (await timeOf(ends)) !== undefined;
      return over ? true : undefined;
    });
  });

  test('the length of texts that are far above the bound is not computed from them, and texts are read as a whole or in part', async () => {
    const { database } = opened;
    const collectionId = await collectionWith(3, {});
    // The text is random, so that even its compressed form is stored outside of its row.
    await database.sql`
      update retrieval.documents set labels = '{public}',
        text = (select string_agg(md5(random()::text || n), '') from generate_series(1, 3000) n)
      where collection_id = ${collectionId}`;
    const docs = await database.sql<{ doc: string }[]>`
      select doc from retrieval.documents where collection_id = ${collectionId}`;
    const visibility = { tenant: 'acme', collectionId, labels: ['public'] };
    const reading = (most: number) =>
      database.sql.begin(async (sql) => {
        const scans = async () => {
          const [row] = await sql<{ scans: number }[]>`
            select idx_scan::int as scans from pg_stat_xact_all_tables
            where relid = (select reltoastrelid from pg_class where oid = 'retrieval.documents'::regclass)`;
          return row?.scans ?? 0;
        };
        const before = await scans();
        const ids = docs.map(({ doc }) => doc);
        const length = await visibleLength(sql as unknown as Sql, visibility, ids, most);
        return { length, read: (await scans()) - before };
      });
    const length = docs.length * 96_000;
    expect(await reading(length / 3 - 1)).toEqual({ length: undefined, read: 0 });
    expect((await reading(length - 1)).length).toBeUndefined();
    expect(await reading(length)).toMatchObject({ length });
    const ids = docs.map(({ doc }) => doc);
    const texts = await visibleTexts(database.sql, visibility, ids);
    const firsts = await visibleTexts(database.sql, visibility, ids, 100);
    expect(texts.map(({ text }) => text.length)).toEqual(docs.map(() => 96_000));
    expect(firsts.map(({ text }) => text)).toEqual(texts.map(({ text }) => text.slice(0, 100)));
  });

  test.each(['force_custom_plan', 'force_generic_plan'])(
    'the validity of documents is read without the valid documents, with %s',
    async (mode) => {
      const { database } = opened;
      const collectionId = await collectionWith(5_000, {
        from: `now() - doc * interval '1 second'`,
        until: `now() + interval '1 hour' + doc * interval '1 second'`,
      });
      await database.sql`analyze retrieval.documents`;
      const { answer, read } = await readingRows(
        database,
        'retrieval.documents',
        (sql) => timeIfSomeAreInvalid(sql, collectionId),
        (sql) => sql`select set_config('plan_cache_mode', ${mode}, true)`,
      );
      expect(answer).toBeUndefined();
      // The planner reads single rows at the ends of an index.
      expect(read).toBeLessThan(20);
    },
  );
});
