import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { insertCollection, openIngest } from '../ingest/testing/open-ingest.ts';
import { hasRoomBelow, mostLevels, moveCollection } from './move-collection.ts';
import { moveSettling } from './settle-moves.ts';

const tenant = 'acme';
const user = 'user:development%3Aacme|ann';

const by = { author: { kind: 'claimed', name: 'ann' }, client: 'loopback', traceId: null } as const;

async function open(count: number) {
  const opened = await openTestDatabase();
  const { database } = opened;
  await openIngest(database);
  const relations = await openPostgresRelations(database);
  const audit = await openPostgresAudit(database, 'retrieval');
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push(await insertCollection(database));
  const moveOf = (collectionId: string | undefined, parentId: string | null | undefined) => ({
    tenant,
    collectionId: collectionId as string,
    parentId: parentId as string | null,
    entry: changeEntry(
      { action: 'collection.move', target: { type: 'collection', id: collectionId as string } },
      by,
      new Date(),
    ),
    isPermitted: async () => true,
  });
  const ports = { database, relations, audit };
  const unreadable: string[] = [];
  return {
    ...ports,
    ports,
    opened,
    ids,
    moveOf,
    unreadable,
    /** Settles moves that were left; the number of them. */
    settle: moveSettling(ports, (collectionId) => unreadable.push(collectionId)),
    /** Lets time pass since the moves that were left. */
    async wait(seconds: number) {
      await database.sql`
        update retrieval.collection_moves set created_at = created_at - make_interval(secs => ${seconds})`;
    },
    move: (...args: Parameters<typeof moveOf>) => moveCollection(ports, moveOf(...args)),
    /** The targets of the entries, oldest first. */
    async entries() {
      const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 500 });
      return entries.map(({ content }) => content.target?.id);
    },
    async parentOf(collectionId: string) {
      const [row] = await database.sql<{ parent: string | null }[]>`
        select parent_id as parent from retrieval.collections where collection_id = ${collectionId}`;
      const tuples = await relations.tuplesOf(collectionObject(tenant, collectionId));
      return [row?.parent, ...tuples.map(({ subject }) => subject)];
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** A store outside of the database of the service, as OpenFGA is, that is lost before or after it makes a change. */
function lostStore(stored: Relations, when: 'before' | 'after'): Relations {
  return {
    ...stored,
    joinsTransactions: false,
    async replace(change) {
      if (when === 'after') await stored.replace(change);
      throw new RelationsUnavailableError('lost');
    },
  };
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

  test('a move of a process that is killed before its audit entry gets its parent and its entry, once', async () => {
    await using opened = await open(3);
    const { ids, move, moveOf, settle, wait, entries, parentOf } = opened;
    const [child = '', first = '', second = ''] = ids;
    await move(child, first);
    const program = fileURLToPath(new URL('../testing/move-and-die.ts', import.meta.url));
    const { url, passwordFile } = opened.opened;
    const args = [program, String(url), passwordFile, JSON.stringify(moveOf(child, second))];
    const killed = spawn(process.execPath, args, { stdio: 'inherit' });
    expect(await once(killed, 'exit')).toEqual([null, 'SIGKILL']);
    expect(await parentOf(child)).toEqual([first, collectionObject(tenant, second)]);
    expect(await entries()).toEqual([child]);
    await wait(31);
    expect([await settle(), await settle()]).toEqual([1, 0]);
    expect(await parentOf(child)).toEqual([second, collectionObject(tenant, second)]);
    expect(await entries()).toEqual([child, child]);
  });

  test.each(['before', 'after'] as const)(
    'a move to the top level whose connection to the store is lost %s the change is settled as the store shows it',
    async (when) => {
      await using opened = await open(2);
      const { ids, move, moveOf, ports, settle, wait, entries, parentOf, relations } = opened;
      const [child = '', parent = ''] = ids;
      await move(child, parent);
      const lost = moveCollection({ ...ports, relations: lostStore(relations, when) }, moveOf(child, null));
      await expect(lost).rejects.toThrow(RelationsUnavailableError);
      await wait(31);
      expect([await settle(), await settle()]).toEqual([1, 0]);
      expect(await parentOf(child)).toEqual(when === 'before' ? [parent, collectionObject(tenant, parent)] : [null]);
      expect(await entries()).toHaveLength(when === 'before' ? 1 : 2);
    },
  );

  test('the next move of the tenant first settles the unfinished one, so that no cycle is created', async () => {
    await using opened = await open(2);
    const { ids, move, moveOf, ports, settle, wait, entries, relations } = opened;
    const [a = '', b = ''] = ids;
    const lost = moveCollection({ ...ports, relations: lostStore(relations, 'after') }, moveOf(a, b));
    await expect(lost).rejects.toThrow(RelationsUnavailableError);
    await wait(31);
    expect(await move(b, a)).toBe('circle');
    expect(await entries()).toEqual([a]);
    expect(await settle()).toBe(0);
  });

  test('a move whose request arrives late has its parent and its entry, and until 30 seconds have passed no other move begins', async () => {
    await using opened = await open(4);
    const { ids, moveOf, move, ports, settle, wait, entries, parentOf, relations } = opened;
    const [child = '', parent = '', other = '', third = ''] = ids;
    const sent: Parameters<Relations['replace']>[0][] = [];
    const late: Relations = {
      ...relations,
      joinsTransactions: false,
      async replace(change) {
        sent.push(change);
        throw new RelationsUnavailableError('no answer');
      },
    };
    const lost = () => moveCollection({ ...ports, relations: late }, moveOf(child, parent));
    await expect(lost()).rejects.toThrow(RelationsUnavailableError);
    await wait(25);
    for (const again of [lost, () => move(child, other), () => move(parent, child), () => move(other, third)]) {
      await expect(again()).rejects.toThrow('an earlier move is not settled');
    }
    expect(await settle()).toBe(0);
    for (const change of sent) await relations.replace(change);
    await wait(6);
    expect(await settle()).toBe(1);
    expect(sent).toHaveLength(1);
    expect(await parentOf(child)).toEqual([parent, collectionObject(tenant, parent)]);
    expect(await entries()).toEqual([child]);
    expect(await move(parent, child)).toBe('circle');
  });

  test.each(['before', 'after'] as const)(
    'a move that was left %s the change can be repeated to the same and to another parent',
    async (when) => {
      await using opened = await open(3);
      const { ids, moveOf, ports, wait, parentOf, relations } = opened;
      const [child = '', parent = '', other = ''] = ids;
      const outside = { ...relations, joinsTransactions: false };
      for (const next of [parent, other]) {
        const lost = moveCollection({ ...ports, relations: lostStore(relations, when) }, moveOf(child, parent));
        await expect(lost).rejects.toThrow(RelationsUnavailableError);
        await wait(31);
        expect(await moveCollection({ ...ports, relations: outside }, moveOf(child, next))).toBe('moved');
        expect(await parentOf(child)).toEqual([next, collectionObject(tenant, next)]);
        await moveCollection({ ...ports, relations: outside }, moveOf(child, null));
      }
    },
  );

  test('the entries of settled moves stay if the next move fails', async () => {
    await using opened = await open(3);
    const { ids, moveOf, ports, wait, entries, relations } = opened;
    const [child = '', parent = '', other = ''] = ids;
    const lose = (when: 'before' | 'after', ...move: [string, string]) =>
      moveCollection({ ...ports, relations: lostStore(relations, when) }, moveOf(...move));
    await expect(lose('after', child, parent)).rejects.toThrow(RelationsUnavailableError);
    await wait(31);
    await expect(lose('before', other, parent)).rejects.toThrow(RelationsUnavailableError);
    expect(await entries()).toEqual([child]);
  });

  test('a move whose session ended while it queried the store, and with it the lock, is not sent', async () => {
    await using opened = await open(2);
    const { ids, moveOf, ports, database, relations, move } = opened;
    const [child = '', parent = ''] = ids;
    let isSent = false;
    const outside: Relations = {
      ...relations,
      joinsTransactions: false,
      async tuplesOf(object) {
        await database.sql`select pg_terminate_backend(pid, 60000) from pg_locks where locktype = 'advisory' and granted
          and database = (select oid from pg_database where datname = current_database())`;
        return relations.tuplesOf(object);
      },
      async replace() {
        isSent = true;
      },
    };
    await expect(moveCollection({ ...ports, relations: outside }, moveOf(child, parent))).rejects.toThrow();
    expect(isSent).toBe(false);
    expect(await database.sql`select from retrieval.collection_moves`).toHaveLength(0);
    expect(await move(child, parent)).toBe('moved');
  });

  test('a move that a newer release stored is left to it, and does not keep others from being settled', async () => {
    await using opened = await open(3);
    const { ids, database, moveOf, ports, settle, wait, entries, unreadable, relations } = opened;
    const [newer = '', child = '', parent = ''] = ids;
    await database.sql`update retrieval.collections set tenant = 'aaa' where collection_id = ${newer}`;
    await database.sql`
      insert into retrieval.collection_moves (collection_id, tenant, entry) values (${newer}, 'aaa', '{"of":"later"}')`;
    const lost = moveCollection({ ...ports, relations: lostStore(relations, 'after') }, moveOf(child, parent));
    await expect(lost).rejects.toThrow(RelationsUnavailableError);
    await wait(31);
    expect([await settle(), await settle()]).toEqual([1, 0]);
    expect(await entries()).toEqual([child]);
    expect(unreadable).toEqual([newer]);
    expect(await database.sql`select from retrieval.collection_moves`).toHaveLength(1);
  });

  test('a move whose author lost the right while it waited for another one changes nothing', async () => {
    await using opened = await open(2);
    const { ids, moveOf, ports, parentOf } = opened;
    const [child = '', parent = ''] = ids;
    const refused = { ...moveOf(child, parent), isPermitted: async () => false };
    expect(await moveCollection(ports, refused)).toBe('forbidden');
    expect(await parentOf(child)).toEqual([null]);
    expect(await moveCollection(ports, moveOf(child, parent))).toBe('moved');
  });

  test('a move in progress is not settled by another process', async () => {
    await using opened = await open(2);
    const { ids, moveOf, ports, settle, wait, entries, parentOf, relations } = opened;
    const [child = '', parent = ''] = ids;
    const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: Relations = {
      ...relations,
      joinsTransactions: false,
      async replace(change) {
        entered.resolve();
        await released.promise;
        await relations.replace(change);
      },
    };
    const running = moveCollection({ ...ports, relations: slow }, moveOf(child, parent));
    await entered.promise;
    await wait(31);
    expect(await settle()).toBe(0);
    expect(await entries()).toEqual([]);
    released.resolve();
    expect(await running).toBe('moved');
    expect(await entries()).toEqual([child]);
    expect(await parentOf(child)).toEqual([parent, collectionObject(tenant, parent)]);
  });
});
