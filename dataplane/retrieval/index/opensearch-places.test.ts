import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { insertCollection, type OpenedIngest, openIngest } from '../ingest/testing/open-ingest.ts';
import { openSearchPlaces } from './opensearch-places.ts';
import { partitionName } from './partition-name.ts';

describe.skipIf(missingPostgres !== undefined)(onPostgres('places of partitions in OpenSearch'), () => {
  let opened: TestDatabase;
  let ingest: OpenedIngest;

  beforeAll(async () => {
    opened = await openTestDatabase();
  });
  afterAll(() => opened?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await opened.database.sql`drop schema if exists retrieval cascade`;
    ingest = await openIngest(opened.database);
  });

  const open = (prefix = 'docs', dimension: number | 'unapproved' = 8, database = opened.database) =>
    openSearchPlaces(database, { prefix, dimensionsOf: () => (dimension === 'unapproved' ? undefined : dimension) });
  const own = (version = 1) => partitionName({ collectionId: ingest.collectionId, version });

  test('concurrent requests for the OpenSearch index of a collection get one index, and later requests the same one', async () => {
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => open().placeOf(own())));
    expect(first).toMatchObject({
      prefix: expect.stringMatching(/^docs-[0-9a-f]{24}$/),
      dimensions: 8,
      generation: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    for (const other of [...others, await open().placeOf(own())]) expect(other).toEqual(first);
  });

  test('collections of one tenant and profile share an index, and those of other tenants and profiles do not', async () => {
    const { sql } = opened.database;
    const [same, otherTenant, otherProfile] = await Promise.all([1, 2, 3].map(() => insertCollection(opened.database)));
    await sql`update retrieval.collections set tenant = 'globex' where collection_id = ${otherTenant ?? ''}`;
    await sql`
      update retrieval.index_versions set embedding_profile_id = 'other' where collection_id = ${otherProfile ?? ''}`;
    const prefixOf = async (collectionId = '') =>
      (await open().placeOf(partitionName({ collectionId, version: 1 })))?.prefix;
    expect(await prefixOf(same)).toBe(await prefixOf(ingest.collectionId));
    const all = await Promise.all([same, otherTenant, otherProfile].map(prefixOf));
    expect(new Set(all).size).toBe(3);
  });

  test('the stored vectors decide the number of dimensions, and without vectors and a profile there is no place', async () => {
    expect(await open('docs', 'unapproved').placeOf(own())).toBeUndefined();
    await ingest.submit({ docId: 'a', text: 'words' });
    await ingest.drain();
    expect(await open('docs', 'unapproved').placeOf(own())).toMatchObject({ dimensions: 8 });
    expect(await open('docs', 3).placeOf(own())).toMatchObject({ dimensions: 8 });
  });

  test('a deleted collection keeps its OpenSearch index until its entries are removed, and gets no new one', async () => {
    const { sql } = opened.database;
    const [kept, unknown] = [await open().placeOf(own()), await insertCollection(opened.database)];
    await sql`update retrieval.collections set status = 'deleted'`;
    expect(await open().placeOf(own())).toEqual(kept);
    expect(await open().placeOf(partitionName({ collectionId: unknown, version: 1 }))).toBeUndefined();
    await open().leave(own());
    expect(await open().placeOf(own())).toBeUndefined();
    expect(await open().leftFor(3_600_000)).toEqual([]);
    const left = await open().leftFor(0);
    expect(left).toEqual([{ partition: own(), place: kept }]);
    for (const one of left) await open().forget(one);
    expect(await open().leftFor(0)).toEqual([]);
  });

  test('an index whose version was cleared meanwhile counts as left', async () => {
    const kept = await open().placeOf(own());
    expect(await open().leftFor(0)).toEqual([]);
    await opened.database.sql`update retrieval.index_versions set state = 'retired', cleared = true`;
    expect(await open().leftFor(0)).toEqual([{ partition: own(), place: kept }]);
  });

  test('a version of a collection has no OpenSearch index until it is complete', async () => {
    await opened.database.sql`
      insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
      values (${ingest.collectionId}, 2, 'test-profile', 'building')`;
    expect(await open().placeOf(own(2))).toBeUndefined();
    await opened.database.sql`update retrieval.index_versions set complete_since = 0 where number = 2`;
    expect(await open().placeOf(own(2))).toMatchObject({ dimensions: 8 });
  });

  test('with another prefix a collection gets another OpenSearch index, and with the first prefix the first index again', async () => {
    const first = await open().placeOf(own());
    const second = await open('other').placeOf(own());
    expect(second?.prefix.replace('other', 'docs')).toBe(first?.prefix);
    expect(await open().leftFor(0)).toEqual([{ partition: own(), place: first }]);
    expect(await open().placeOf(own())).toEqual(first);
    expect(await open().leftFor(0)).toEqual([{ partition: own(), place: second }]);
  });

  test('a copy of the database, and a database whose tables were restored, have separate indices', async () => {
    const first = await open().placeOf(own());
    await using copy = await opened.copy();
    const copied = await open('docs', 8, copy.database).placeOf(own());
    expect(copied).toMatchObject({ prefix: first?.prefix, dimensions: 8 });
    expect(copied?.generation).not.toBe(first?.generation);
    expect(await open().placeOf(own())).toEqual(first);
    const { sql } = opened.database;
    await sql`create table saved as table retrieval.collections`;
    await sql`truncate retrieval.collections cascade`;
    await sql`insert into retrieval.collections select * from saved`;
    await sql`
      insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state)
      values (${ingest.collectionId}, 1, 'test-profile', 'active')`;
    await sql`drop table saved`;
    const restored = await open().placeOf(own());
    expect(restored?.generation).not.toBe(first?.generation);
    expect(await open().leftFor(0)).toEqual([{ partition: own(), place: first }]);
  });
});
