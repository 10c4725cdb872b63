import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AuditContent } from '#contracts/audit';
import { type Database, SqlUnavailableError } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { openTestDatabase } from '#sql/testing/test-database';
import type { RecordPorts } from '../changes/left-changes.ts';
import type { RecordedChanges } from '../changes/recorded-changes.ts';
import { type Relations, RelationsUnavailableError, type Tuple } from '../ports.ts';
import { RelationsModelError, UndecidedChangeError } from '../relations-error.ts';

type Action = 'grant' | 'revoke';

/** A service that records its changes of rights. */
export type RecordingService = {
  readonly migrations: { readonly schema: string; readonly folder: URL };
  readonly table: string;
  readonly failureCode: string;
  readonly lockOf: (object: string) => string;
  /** Two objects that the service changes, and a relation that a user can have to each. */
  readonly objects: readonly [object: string, other: string];
  readonly relations: readonly [string, string];
  readonly entryOf: (action: Action, tuple: Tuple) => AuditContent;
  readonly openAudit: (database: Database) => Promise<RecordPorts['audit']>;
  readonly create: (
    ports: RecordPorts & { readonly database: Database; readonly relations: Relations },
    logger: { readonly error: (event: string) => void },
  ) => RecordedChanges;
};

type OpenStore = (database: Database) => Promise<Relations>;

/** A store of rights in which a change fails before or after it is made, or which delays its answer. */
type Store = {
  fails?: 'before' | 'after' | undefined;
  whenAsked?: (object: string) => Promise<unknown>;
  whenChanged?: () => Promise<unknown>;
};

function outside(stored: Relations, state: Store): Relations {
  const change =
    (action: Action): Relations['grant'] =>
    async (tuples) => {
      await state.whenChanged?.();
      if (state.fails === 'before') throw new RelationsUnavailableError();
      await stored[action](tuples);
      if (state.fails === 'after') throw new RelationsUnavailableError();
    };
  return {
    ...stored,
    joinsTransactions: false,
    grant: change('grant'),
    revoke: change('revoke'),
    async tuplesOf(object) {
      await state.whenAsked?.(object);
      return stored.tuplesOf(object);
    },
  };
}

/** Seconds after which a change without an entry is settled. */
const longest = 30;

/**
 * Prepares the changes of a service in one database and one store of rights, which are empty at the start of each test.
 */
function prepareWorlds(service: RecordingService, openStore: OpenStore) {
  const { table, objects, relations } = service;
  const parts = new AsyncDisposableStack();
  let opened: { readonly database: Database; readonly stored: Relations; readonly audit: RecordPorts['audit'] };

  beforeAll(async () => {
    const { database } = parts.use(await openTestDatabase());
    await migrate(database, service.migrations);
    const stored = parts.use(await openStore(database));
    opened = { database, stored, audit: await service.openAudit(database) };
  });
  afterAll(() => parts.disposeAsync());

  const tupleOf = (name: string, at: 0 | 1 = 0): Tuple => ({
    subject: `user:test|${name}`,
    relation: relations[at],
    object: objects[at],
  });

  async function openWorld() {
    const { database, stored, audit } = opened;
    const { sql } = database;
    await sql`delete from ${sql(table)}`;
    for (const object of objects) {
      const tuples = await stored.tuplesOf(object);
      if (tuples.length > 0) await stored.revoke(tuples);
    }
    const [{ start } = { start: '0' }] = await sql<{ start: string }[]>`
      select coalesce(max(position), 0)::text as start from audit.entries`;
    const store: Store = {};
    const logged: string[] = [];
    const logger = { error: (event: string) => logged.push(event) };
    /** The changes of one process. */
    const processOf = (held: Relations, log: RecordPorts['audit'] = audit) =>
      service.create({ database, relations: held, audit: log }, logger);
    const own = processOf(outside(stored, store));
    const changeBy = (
      changes: RecordedChanges,
      action: Action,
      tuples: readonly Tuple[],
      refusalOfHeld: (held: readonly Tuple[]) => 'refused' | undefined = () => undefined,
    ) =>
      changes.change<'refused'>({
        action,
        object: tuples[0]?.object ?? '',
        tuples,
        entryOf: (tuple) => service.entryOf(action, tuple),
        refusalOfAuthor: async () => undefined,
        refusalOfHeld,
      });
    async function contents(): Promise<readonly AuditContent[]> {
      const rows = await sql<{ content: string }[]>`
        select content from audit.entries where position > ${start} order by position`;
      return rows.map(({ content }) => JSON.parse(content));
    }
    return {
      sql,
      stored,
      store,
      logged,
      own,
      processOf,
      changeBy,
      contents,
      change: (action: Action, ...tuples: readonly Tuple[]) => changeBy(own, action, tuples),
      /** Changes a tuple in a store that fails, so that the change is left. */
      async leave(action: Action, tuple: Tuple, fails: 'before' | 'after') {
        store.fails = fails;
        await expect(changeBy(own, action, [tuple])).rejects.toThrow(UndecidedChangeError);
        store.fails = undefined;
      },
      /** Makes every stored change this old. */
      age: (seconds: number) => sql`
        update ${sql(table)} set created_at = clock_timestamp() - make_interval(secs => ${seconds})`,
      rows: async () => (await sql`select from ${sql(table)}`).length,
      /** Action, outcome and user of each entry, the oldest first. */
      async entries() {
        return (await contents()).map(({ action, outcome, target }) => {
          return `${action.split('.')[1]} ${outcome} ${target?.id.split('|')[1]}`;
        });
      },
      async users(object: string = objects[0]) {
        return (await stored.tuplesOf(object)).map(({ subject }) => subject.split('|')[1]);
      },
    };
  }

  return { tupleOf, openWorld };
}

const lastIsKept = (held: readonly Tuple[]) => (held.length === 1 ? 'refused' : undefined);
const atMostTwo = (held: readonly Tuple[]) => (held.length >= 2 ? 'refused' : undefined);

/** The obligations of changes of rights with their audit entries, where the rights are in the database of the service. */
export function joinedChangesSuite(service: RecordingService, openStore: OpenStore): void {
  const { objects } = service;

  describe(`changes of rights beside ${service.table}`, () => {
    const { tupleOf, openWorld } = prepareWorlds(service, openStore);

    test('a right in the database of the service is changed together with its entry, and an old row is not settled', async () => {
      const world = await openWorld();
      const { processOf, stored, changeBy } = world;
      const append = () => Promise.reject(new Error('the log is away'));
      const failing = changeBy(processOf(stored, { append }), 'grant', [tupleOf('ann')]);
      await expect(failing).rejects.toThrow('the log is away');
      expect([await world.users(), await world.entries()]).toEqual([[], []]);
      const joined = processOf(stored);
      expect(await changeBy(joined, 'grant', [tupleOf('ann'), tupleOf('bob')])).toBe('changed');
      expect(await changeBy(joined, 'revoke', [tupleOf('ann')], lastIsKept)).toBe('changed');
      expect(await changeBy(joined, 'revoke', [tupleOf('bob')], lastIsKept)).toBe('refused');
      await world.leave('grant', tupleOf('left'), 'after');
      await world.age(longest);
      await joined.settleLeft();
      expect([await world.rows(), await joined.isLeft(objects[0])]).toEqual([1, false]);
      expect(await world.entries()).toEqual(['grant accepted ann', 'grant accepted bob', 'revoke accepted ann']);
    });
  });
}

/**
 * The obligations of changes of rights with their audit entries, for a store of rights outside of the database.
 * @param openStore opens an empty store; the suite does not use its ability to join a transaction
 */
export function recordedChangesSuite(service: RecordingService, openStore: OpenStore): void {
  const { table, objects, relations, failureCode, lockOf } = service;

  describe(`changes of rights in ${table}`, () => {
    const { tupleOf, openWorld } = prepareWorlds(service, openStore);

    /** Stores old interrupted changes, with numbers below those of all other changes. */
    function insertLeft(sql: Database['sql'], count: number, entry: string) {
      const { object, relation, subject } = tupleOf('newer');
      return sql`
        insert into ${sql(table)} (change_id, object, relation, subject, action, entry, created_at)
        select ('00000000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, ${object}, ${relation}, ${subject}, 'grant',
          ${entry}, clock_timestamp() - interval '1 hour'
        from generate_series(1, ${count}::integer) number`;
    }

    test('a changed right has one audit entry, and a change without an effect has none', async () => {
      const world = await openWorld();
      const { change } = world;
      expect(await change('grant', tupleOf('ann'))).toBe('changed');
      expect(await change('grant', tupleOf('ann'))).toBe('unchanged');
      expect(await change('revoke', tupleOf('bob'))).toBe('unchanged');
      expect(await change('grant', tupleOf('ann'), tupleOf('bob'), tupleOf('carl'))).toBe('changed');
      expect(await change('revoke', tupleOf('ann'))).toBe('changed');
      const granted = ['ann', 'bob', 'carl'].map((name) => `grant accepted ${name}`);
      expect(await world.entries()).toEqual([...granted, 'revoke accepted ann']);
      expect([await world.users(), await world.rows()]).toEqual([['bob', 'carl'], 0]);
    });

    test('a change whose process left gets one entry with the state that the store shows', async () => {
      const world = await openWorld();
      const { own } = world;
      await world.leave('grant', tupleOf('made'), 'after');
      await world.leave('grant', tupleOf('not-made', 1), 'before');
      expect([await own.isLeft(objects[0]), await world.entries()]).toEqual([true, []]);
      await world.age(longest);
      const another = world.processOf(outside(world.stored, {}));
      await Promise.all([own.settleLeft(), another.settleLeft()]);
      await own.settleLeft();
      expect((await world.entries()).toSorted()).toEqual(['grant accepted made', 'grant failed not-made']);
      expect((await world.contents()).map(({ code }) => code).toSorted()).toEqual([failureCode, null]);
      expect([await world.rows(), await own.isLeft(objects[0])]).toEqual([0, false]);
    });

    test('the entry of a change that was left stays when the next change of the right fails too', async () => {
      const world = await openWorld();
      await world.leave('grant', tupleOf('twice'), 'after');
      await world.age(longest);
      await world.leave('revoke', tupleOf('twice'), 'after');
      await world.age(longest);
      await world.own.settleLeft();
      expect(await world.entries()).toEqual(['grant accepted twice', 'revoke accepted twice']);
    });

    test('while a change may be in progress it is not settled, its right is not changed, and other rights are', async () => {
      const world = await openWorld();
      const { change } = world;
      await world.leave('grant', tupleOf('slow'), 'after');
      await world.age(longest / 2);
      await world.own.settleLeft();
      const refused = await change('revoke', tupleOf('slow')).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(RelationsUnavailableError);
      expect(refused).not.toBeInstanceOf(UndecidedChangeError);
      expect([await world.entries(), await world.rows()]).toEqual([[], 1]);
      expect(await change('grant', tupleOf('next'))).toBe('changed');
      expect(await change('grant', tupleOf('next', 1))).toBe('changed');
      await world.age(longest);
      expect(await change('revoke', tupleOf('slow'))).toBe('changed');
      const settled = ['grant accepted slow', 'revoke accepted slow'];
      expect(await world.entries()).toEqual(['grant accepted next', 'grant accepted next', ...settled]);
    });

    test.each(['grant', 'revoke'] as const)(
      'the same change again, a %s, changes nothing if the store already shows it, and is refused otherwise',
      async (action) => {
        const world = await openWorld();
        const [shown, hidden] = [tupleOf('shown'), tupleOf('hidden')];
        if (action === 'revoke') await world.stored.grant([shown, hidden]);
        await world.leave(action, shown, 'after');
        await world.leave(action, hidden, 'before');
        expect(await world.change(action, shown)).toBe('unchanged');
        await expect(world.change(action, hidden)).rejects.toThrow('an earlier change is not settled');
        await expect(world.change(action, shown, hidden)).rejects.toThrow('an earlier change is not settled');
        // The request of the first change may still arrive.
        const opposite = action === 'grant' ? 'revoke' : 'grant';
        await expect(world.change(opposite, hidden)).rejects.toThrow('an earlier change is not settled');
        await world.age(longest);
        await world.own.settleLeft();
        expect(await world.entries()).toEqual([`${action} accepted shown`, `${action} failed hidden`]);
      },
    );

    test('a rule about all rights of an object decides only if every outcome of the stored changes permits the same', async () => {
      const world = await openWorld();
      const { own, changeBy, store } = world;
      await world.stored.grant([tupleOf('ann'), tupleOf('bob')]);
      await world.leave('revoke', tupleOf('ann'), 'before');
      const revoked = changeBy(own, 'revoke', [tupleOf('bob')], lastIsKept);
      await expect(revoked).rejects.toThrow('an earlier change is not settled');
      await world.stored.grant([tupleOf('carl')]);
      expect(await changeBy(own, 'revoke', [tupleOf('bob')], lastIsKept)).toBe('changed');
      await world.leave('grant', tupleOf('dora', 1), 'before');
      expect(await changeBy(own, 'grant', [tupleOf('emil', 1)], atMostTwo)).toBe('changed');
      const granted = changeBy(own, 'grant', [tupleOf('fred', 1)], atMostTwo);
      await expect(granted).rejects.toThrow('an earlier change is not settled');
      await world.stored.grant([tupleOf('gina', 1)]);
      store.fails = undefined;
      expect(await changeBy(own, 'grant', [tupleOf('fred', 1)], atMostTwo)).toBe('refused');
    });

    test('a change whose session ended while it queried the store is not made', async () => {
      const world = await openWorld();
      const { sql, store } = world;
      let asked = 0;
      store.whenAsked = async () => {
        asked += 1;
        await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
          and database = (select oid from pg_database where datname = current_database())`;
      };
      await expect(world.change('grant', tupleOf('late'))).rejects.toThrow(SqlUnavailableError);
      expect(asked).toBe(1);
      expect([await world.users(), await world.rows()]).toEqual([[], 0]);
    });

    test('a change that lost its lock while the store makes it is neither settled nor overtaken by another process', async () => {
      const world = await openWorld();
      const { sql, store, stored, changeBy, processOf } = world;
      const [entered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      store.whenChanged = () => {
        entered.resolve();
        return released.promise;
      };
      const running = world.change('grant', tupleOf('slow'));
      running.catch(() => undefined);
      await entered.promise;
      await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`;
      const another = processOf(outside(stored, {}));
      await another.settleLeft();
      await expect(changeBy(another, 'grant', [tupleOf('slow')])).rejects.toThrow('an earlier change is not settled');
      expect([await world.entries(), await world.rows()]).toEqual([[], 1]);
      released.resolve();
      await expect(running).rejects.toThrow(SqlUnavailableError);
      await world.age(longest);
      await another.settleLeft();
      expect([await world.entries(), await world.rows()]).toEqual([['grant accepted slow'], 0]);
    });

    test('concurrent changes of one object are made one after another', async () => {
      const world = await openWorld();
      const { own, changeBy } = world;
      await world.stored.grant([tupleOf('ann')]);
      const grants = ['bob', 'carl', 'dora'].map((name) => changeBy(own, 'grant', [tupleOf(name)], atMostTwo));
      expect((await Promise.all(grants)).toSorted()).toEqual(['changed', 'refused', 'refused']);
      expect([await world.users(), await world.entries()]).toEqual([
        ['ann', expect.any(String)],
        [expect.stringMatching(/^grant accepted/)],
      ]);
    });

    test('settling waits for no lock, and holds none while the store does not answer', async () => {
      const world = await openWorld();
      const { sql, store, own } = world;
      await world.leave('grant', tupleOf('left'), 'after');
      await world.age(longest);
      const lock = lockOf(objects[0]);
      await sql.begin(async (held) => {
        await held`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`;
        await own.settleLeft();
      });
      expect([await world.entries(), await world.rows()]).toEqual([[], 1]);
      let free: unknown;
      store.whenAsked = async () => {
        [free] = await sql`select pg_try_advisory_xact_lock(hashtextextended(${lock}, 0)) as free`;
        throw new RelationsUnavailableError();
      };
      await expect(own.settleLeft()).rejects.toThrow(RelationsUnavailableError);
      expect(free).toEqual({ free: true });
      delete store.whenAsked;
      await own.settleLeft();
      expect([await world.entries(), await world.rows()]).toEqual([['grant accepted left'], 0]);
    });

    test.each([99, 100, 1_001])(
      '%i changes that a newer release left are kept, reported up to 1,000 times, and neither hide nor delay others',
      async (count) => {
        const world = await openWorld();
        await insertLeft(world.sql, count, '{"action":"newer"}');
        await world.leave('grant', tupleOf('left'), 'after');
        await world.age(longest);
        await world.own.settleLeft();
        await world.own.settleLeft();
        expect([await world.entries(), await world.rows()]).toEqual([['grant accepted left'], count]);
        expect(world.logged).toHaveLength(Math.min(count, 1_000));
        expect(await world.change('grant', tupleOf('newer'))).toBe('changed');
        expect(await world.rows()).toBe(count);
      },
    );

    test('an entry that is not JSON is treated as an entry of a newer release', async () => {
      const world = await openWorld();
      await insertLeft(world.sql, 1, 'newer');
      await world.own.settleLeft();
      expect([await world.rows(), world.logged.length]).toEqual([1, 1]);
    });

    test('a change that a newer release stored just now may be in progress, so that its right waits', async () => {
      const world = await openWorld();
      await insertLeft(world.sql, 1, '{"action":"newer"}');
      await world.age(0);
      await expect(world.change('grant', tupleOf('newer'))).rejects.toThrow('an earlier change is not settled');
      expect(await world.change('grant', tupleOf('other'))).toBe('changed');
    });

    test.each([
      ['the loop', 100],
      ['the loop', 201],
      ['the next change', 201],
    ])('%s settles all of %i changes of one object that were left', async (by, count) => {
      const world = await openWorld();
      await insertLeft(world.sql, count, JSON.stringify(service.entryOf('grant', tupleOf('newer'))));
      if (by === 'the loop') await world.own.settleLeft();
      else await world.change('revoke', tupleOf('unknown'));
      expect(await world.rows()).toBe(0);
      expect(await world.entries()).toEqual(Array.from({ length: count }, () => 'grant failed newer'));
    });

    test('an object whose rights the store cannot list does not delay the changes of others', async () => {
      const world = await openWorld();
      const { store, own } = world;
      await world.leave('grant', tupleOf('hidden'), 'after');
      await world.leave('grant', tupleOf('listed', 1), 'after');
      await world.age(longest);
      store.whenAsked = async (object) => {
        if (object === objects[0]) throw new RelationsModelError('too_complex', 'has too many');
      };
      await expect(own.settleLeft()).rejects.toThrow(RelationsModelError);
      expect([await world.entries(), await world.rows()]).toEqual([['grant accepted listed'], 1]);
    });

    test('a right that the store does not accept leaves nothing to settle', async () => {
      const world = await openWorld();
      const relation = `${relations[0]}-unknown`;
      await expect(world.change('grant', { ...tupleOf('ann'), relation })).rejects.toThrow(RelationsModelError);
      expect([await world.rows(), await world.entries()]).toEqual([0, []]);
    });

    test('a change is refused without an effect if its author has no right once the lock is held', async () => {
      const world = await openWorld();
      const refused = await world.own.change<'no_right'>({
        action: 'grant',
        object: objects[0],
        tuples: [tupleOf('ann')],
        entryOf: (tuple) => service.entryOf('grant', tuple),
        refusalOfAuthor: async () => 'no_right',
        refusalOfHeld: () => undefined,
      });
      expect([refused, await world.users(), await world.entries()]).toEqual(['no_right', [], []]);
    });
  });
}
