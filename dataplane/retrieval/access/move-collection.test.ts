import { describe, expect, test } from 'vitest';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { collectionObject } from '#relations/tenant-object';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { hasRoomBelow, mostLevels, moveCollection } from './move-collection.ts';

const tenant = 'acme';
const user = 'user:development%3Aacme|ann';

async function open(count: number) {
  const opened = await openTestDatabase();
  const { database } = opened;
  await openIngest(database);
  const relations = await openPostgresRelations(database);
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push(await insertCollection(database));
  const move = (collectionId: string | undefined, parentId: string | null | undefined) =>
    moveCollection(database, relations, {
      tenant,
      collectionId: collectionId as string,
      parentId: parentId as string,
      note: async () => undefined,
    });
  return { database, relations, ids, move, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('moves of collections'), () => {
  test('readers of the old parent lose a moved collection and readers of the new one gain it', async () => {
    await using opened = await open(3);
    const { relations, move, ids } = opened;
    const [child = '', first = '', second = ''] = ids;
    const reads = () => relations.check(user, 'reader', collectionObject(tenant, child));
    await relations.grant([{ subject: user, relation: 'reader', object: collectionObject(tenant, second) }]);
    expect(await move(child, first)).toBe('moved');
    expect(await reads()).toBe(false);
    expect(await move(child, second)).toBe('moved');
    expect(await move(child, second)).toBe('moved');
    expect(await reads()).toBe(true);
    expect(await move(child, null)).toBe('moved');
    expect(await reads()).toBe(false);
    expect(await relations.tuplesOf(collectionObject(tenant, child))).toEqual([]);
  });

  test('a collection is not moved below itself, below its children, or into a cycle by two concurrent moves', async () => {
    await using opened = await open(3);
    const { move, ids } = opened;
    const [a, b, c] = ids;
    expect(await move(a, a)).toBe('circle');
    await move(b, a);
    await move(c, b);
    expect(await move(a, c)).toBe('circle');
    await move(b, null);
    await move(c, null);
    expect((await Promise.all([move(a, b), move(b, a)])).sort()).toEqual(['circle', 'moved']);
  });

  test('a tree of collections has at most 10 levels', async () => {
    await using opened = await open(mostLevels + 1);
    const { move, ids, database } = opened;
    for (let at = 1; at < mostLevels; at += 1) expect(await move(ids[at], ids[at - 1])).toBe('moved');
    expect(await move(ids[mostLevels], ids[mostLevels - 1])).toBe('too_deep');
    expect(await move(ids[0], ids[mostLevels])).toBe('too_deep');
    const room = (id: string | undefined) => hasRoomBelow(database.sql, tenant, id as string);
    expect(await room(ids[mostLevels - 2])).toBe(true);
    expect(await room(ids[mostLevels - 1])).toBe(false);
  });

  test('a parent collection of another tenant or that does not exist is not found', async () => {
    await using opened = await open(2);
    const { move, ids, database, relations } = opened;
    await database.sql`update retrieval.collections set tenant = 'globex' where collection_id = ${ids[1] as string}`;
    expect(await move(ids[0], ids[1])).toBe('not_found');
    expect(await move(ids[1], null)).toBe('not_found');
    expect(await move(ids[0], '0190b0c2-7d3b-7a54-9a55-000000000001')).toBe('not_found');
    expect(await relations.tuplesOf(collectionObject(tenant, ids[0] as string))).toEqual([]);
  });
});
