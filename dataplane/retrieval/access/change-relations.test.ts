import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { changeEntry } from '#audit/change-entry';
import type { AuditLog } from '#audit/ports';
import type { AuditContent } from '#contracts/audit';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { type Relations, RelationsUnavailableError, type Tuple } from '#relations/ports';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase, type TestDatabase } from '#sql/testing/test-database';
import { tupleTarget } from './change-author.ts';
import { changeNoted, settleRelationChanges } from './change-relations.ts';

const object = 'collection:acme/one';
const tuple = (name: string): Tuple => ({ subject: `user:test|${name}`, relation: 'reader', object });
const by = { author: { kind: 'claimed', name: 'ann' }, client: 'loopback', traceId: null } as const;

/** A store outside of the database of the service, as OpenFGA is; `fail` says where a change stops. */
function outside(stored: Relations, state: { fail: 'before' | 'after' | undefined }): Relations {
  const change = (action: 'grant' | 'revoke') => async (tuples: readonly Tuple[]) => {
    if (state.fail === 'before') throw new RelationsUnavailableError('stopped before the change');
    await stored[action](tuples);
    if (state.fail === 'after') throw new RelationsUnavailableError('stopped after the change');
  };
  return { ...stored, joinsTransactions: false, grant: change('grant'), revoke: change('revoke') };
}

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('changes of relations in a store outside of the database'),
  () => {
    let database: TestDatabase;
    let audit: AuditLog;
    let relations: Relations;
    const state: { fail: 'before' | 'after' | undefined } = { fail: undefined };

    beforeAll(async () => {
      database = await openTestDatabase();
      await migrate(database.database, { schema: 'retrieval', folder: new URL('../migrations/', import.meta.url) });
      audit = await openPostgresAudit(database.database, 'retrieval');
      relations = outside(await openPostgresRelations(database.database), state);
    });
    afterAll(() => database[Symbol.asyncDispose]());

    const ports = () => ({ database: database.database, relations, audit });
    const change = (action: 'grant' | 'revoke', name: string, most = 100) => {
      const entry = changeEntry({ action: `relation.${action}`, target: tupleTarget(tuple(name)) }, by, new Date());
      return changeNoted(ports(), { action, tuple: tuple(name), entry, most });
    };
    /** Actions and subjects of the entries since the last call. */
    let seen = 0;
    async function added(): Promise<readonly (readonly [AuditContent['action'], string | undefined])[]> {
      const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 500 });
      const found = entries
        .slice(seen)
        .map(({ content }) => [content.action, content.target?.id.split('|')[1]] as const);
      seen = entries.length;
      return found;
    }
    /** A change of a process that dies, before or after the store made it. */
    async function die(action: 'grant' | 'revoke', name: string, fail: 'before' | 'after') {
      state.fail = fail;
      await expect(change(action, name)).rejects.toThrow(RelationsUnavailableError);
      state.fail = undefined;
    }

    test('a change has one entry, and a change that changes nothing has none', async () => {
      expect(await change('grant', 'ann')).toBe('changed');
      expect(await change('grant', 'ann')).toBe('unchanged');
      expect(await change('revoke', 'bob')).toBe('unchanged');
      expect(await change('revoke', 'ann')).toBe('changed');
      expect(await added()).toEqual([
        ['relation.grant', 'ann'],
        ['relation.revoke', 'ann'],
      ]);
      expect(await settleRelationChanges(ports())).toBe(0);
    });

    test('a change that was made by a process that died before its entry gets the entry, once', async () => {
      await die('grant', 'carl', 'after');
      expect(await added()).toEqual([]);
      expect(await settleRelationChanges(ports())).toBe(1);
      expect(await settleRelationChanges(ports())).toBe(0);
      expect(await added()).toEqual([['relation.grant', 'carl']]);
    });

    test('a change that was not made before its process died gets no entry', async () => {
      await die('revoke', 'carl', 'before');
      expect(await settleRelationChanges(ports())).toBe(1);
      expect(await added()).toEqual([]);
      expect((await relations.tuplesOf(object)).map(({ subject }) => subject)).toContain('user:test|carl');
    });

    test('the next change of the object first settles the unfinished one, so that both have their entries in order', async () => {
      await die('grant', 'dora', 'after');
      expect(await change('revoke', 'dora')).toBe('changed');
      expect(await added()).toEqual([
        ['relation.grant', 'dora'],
        ['relation.revoke', 'dora'],
      ]);
    });

    test('a change in progress is not settled by another process', async () => {
      const entered = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const slow = {
        ...relations,
        grant: async (tuples: readonly Tuple[]) => {
          entered.resolve();
          await released.promise;
          await relations.grant(tuples);
        },
      };
      const entry = changeEntry({ action: 'relation.grant', target: tupleTarget(tuple('emil')) }, by, new Date());
      const running = changeNoted(
        { ...ports(), relations: slow },
        { action: 'grant', tuple: tuple('emil'), entry, most: 100 },
      );
      await entered.promise;
      expect(await settleRelationChanges(ports())).toBe(1);
      expect(await added()).toEqual([]);
      released.resolve();
      expect(await running).toBe('changed');
      expect(await added()).toEqual([['relation.grant', 'emil']]);
    });

    test('of grants at the same time as many are made as the limit allows', async () => {
      const held = (await relations.tuplesOf(object)).length;
      const outcomes = await Promise.all(['f', 'g', 'h'].map((name) => change('grant', name, held + 2)));
      expect(outcomes.toSorted()).toEqual(['changed', 'changed', 'too_many']);
      expect(await added()).toHaveLength(2);
    });
  },
);
