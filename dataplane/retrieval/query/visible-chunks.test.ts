import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { readingRows } from '#sql/testing/reading-rows';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertDocuments } from '../ingest/testing/insert-documents.ts';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { timeIfSomeAreInvalid } from './visible-chunks.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('the validity of the documents of a collection'), () => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase();
    await openIngest(opened.database);
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());

  type Bounds = { readonly from?: string; readonly until?: string; readonly isDeleted?: boolean };

  /** A collection with documents of these bounds, as expressions of SQL, in addition to one without bounds. */
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
    const begins = await collectionWith(1, { from: `clock_timestamp() + interval '2 seconds'` });
    const ends = await collectionWith(1, { until: `clock_timestamp() + interval '2 seconds'` });
    expect(await timeOf(begins)).toEqual(expect.any(Number));
    expect(await timeOf(ends)).toBeUndefined();
    await until('both are over', async () => {
      const over = (await timeOf(begins)) === undefined && (await timeOf(ends)) !== undefined;
      return over ? true : undefined;
    });
  });

  test.each(['force_custom_plan', 'force_generic_plan'])(
    'is read without the documents that are valid, with %s',
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
