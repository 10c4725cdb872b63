import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import type { ControlRight } from '#contracts/rights';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { SqlUnavailableError } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { UndecidedChangeError } from './carry-out-change.ts';
import { createRightChanges } from './change-rights.ts';
import { tupleOfRight } from './right-tuples.ts';
import { createRights } from './rights.ts';

const issuer = 'http://issuer.test';
const administrator = (subject: string): ControlRight => ({ role: 'administrator', holder: { issuer, subject } });
const ofPolicy = (subject: string): ControlRight => ({
  role: 'author',
  holder: { issuer, subject },
  policyId: '01900000-0000-7000-8000-0000000000aa',
});
const by = (subject: string) => ({
  author: { kind: 'token' as const, issuer, subject, actors: [] },
  groups: [],
  client: 'loopback' as const,
  traceId: '0'.repeat(32),
});

/** @param hurried the clock advances by ten seconds at each look */
async function openChanges({
  undecided = async (): Promise<readonly string[]> => [],
  hurried = false,
  storeOf = (stored) => stored,
}: {
  readonly undecided?: () => Promise<readonly string[]>;
  readonly hurried?: boolean;
  readonly storeOf?: (stored: Relations) => Relations;
} = {}) {
  let looks = 0;
  const clock = hurried ? { ...systemClock, now: () => looks++ * 10_000 } : systemClock;
  await using parts = new AsyncDisposableStack();
  const { database } = parts.use(await openTestDatabase());
  await migrate(database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
  const stored = parts.use(await openPostgresRelations(database));
  const relations = storeOf(stored);
  const audit = await openPostgresAudit(database, 'management');
  const rights = createRights(relations);
  const store = { undecided };
  const logged: string[] = [];
  const logger = { error: (event: string) => logged.push(event) };
  const changes = createRightChanges({ database, relations, rights, audit, store, clock, logger });
  await stored.grant([tupleOfRight(administrator('first'))]);
  const owned = parts.move();
  /** Action, outcome and holder of each entry, the oldest first. */
  async function entries() {
    const page = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
    return page.entries.map(({ content: { action, outcome, target } }) => {
      return `${action} ${outcome} ${target?.id.split('|')[1]}`;
    });
  }
  /** Makes every change that was left this old. */
  const age = (seconds: number) =>
    database.sql`update management.right_changes set created_at = clock_timestamp() - make_interval(secs => ${seconds})`;
  const left = async () => (await database.sql`select from management.right_changes`).length;
  return {
    database,
    relations,
    audit,
    changes,
    entries,
    age,
    left,
    logged,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Failure = 'before' | 'after' | undefined;

/** A store outside of the database, which fails before or after it makes a change. */
function outside(state: { fails?: Failure; whenAsked?: () => Promise<unknown> }) {
  const failing = (stored: Relations, action: 'grant' | 'revoke'): Relations['grant'] => {
    return async (tuples) => {
      if (state.fails === 'before') throw new RelationsUnavailableError();
      await stored[action](tuples);
      if (state.fails === 'after') throw new RelationsUnavailableError();
    };
  };
  return (stored: Relations): Relations => ({
    ...stored,
    joinsTransactions: false,
    async tuplesOf(object) {
      await state.whenAsked?.();
      return stored.tuplesOf(object);
    },
    grant: failing(stored, 'grant'),
    revoke: failing(stored, 'revoke'),
  });
}

/** Seconds after which a change without an entry is settled. */
const longest = 30;

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of rights'), () => {
  test('more changes at a time than the pool has connections all take effect', async () => {
    await using world = await openChanges();
    const subjects = Array.from({ length: 30 }, (_, at) => `subject-${at}`);
    const answers = await Promise.all(subjects.map((one) => world.changes.grant(administrator(one), by('first'))));
    expect(answers).toEqual(subjects.map(() => ({ kind: 'changed', changed: true })));
    expect(await world.changes.list()).toHaveLength(31);
  });

  test('a revocation is not answered as done while a command that was stored before it has not ended', async () => {
    await using world = await openChanges({ undecided: async () => ['stuck'], hurried: true });
    await world.changes.grant(administrator('second'), by('first'));
    expect(await world.changes.revoke(administrator('second'), by('first'))).toEqual({ kind: 'undecided' });
    expect(await world.changes.list()).toEqual([administrator('first')]);
  });

  test('a change that waits while the right of its author is revoked does not take effect and is not recorded', async () => {
    await using world = await openChanges();
    const { sql } = world.database;
    await world.changes.grant(administrator('second'), by('first'));
    const late = await sql.begin(async (own) => {
      await own`select pg_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0))`;
      const waiting = world.changes.grant(administrator('friend'), by('second'));
      await world.relations.revoke([tupleOfRight(administrator('second'))]);
      return { waiting };
    });
    expect(await late.waiting).toEqual({ kind: 'no_right' });
    expect(await world.changes.list()).toEqual([administrator('first')]);
    const { entries } = await world.audit.read({ filter: {}, order: 'newest', limit: 10 });
    expect(entries.map(({ content }) => content.target?.id)).toEqual([expect.stringContaining('second')]);
  });

  test('a change whose process dies before the right is granted leaves neither the right nor an entry', async () => {
    await using world = await openChanges();
    const { sql } = world.database;
    await sql.begin(async (own) => {
      await own`lock table relations.tuples in share row exclusive mode`;
      const dying = world.changes.grant(administrator('second'), by('first'));
      dying.catch(() => undefined);
      const [waiting] = await until('the grant waits for the table', async () => {
        const found = await own<{ pid: number }[]>`
          select pid from pg_locks where relation = 'relations.tuples'::regclass and not granted`;
        return found.length > 0 && found;
      });
      expect(await world.entries()).toEqual([]);
      await own`select pg_terminate_backend(${waiting?.pid ?? 0})`;
      await expect(dying).rejects.toThrow();
    });
    expect(await world.changes.list()).toEqual([administrator('first')]);
    expect(await world.entries()).toEqual([]);
    await world.changes.grant(administrator('second'), by('first'));
    expect(await world.entries()).toEqual(['administrator.grant accepted second']);
  });

  test('in a store outside of the database, a change has one entry that says what the store shows', async () => {
    const state: { fails?: Failure } = {};
    await using world = await openChanges({ storeOf: outside(state) });
    await world.changes.grant(administrator('done'), by('first'));
    state.fails = 'after';
    await expect(world.changes.grant(administrator('made'), by('first'))).rejects.toThrow(UndecidedChangeError);
    state.fails = 'before';
    await expect(world.changes.grant(ofPolicy('not-made'), by('first'))).rejects.toThrow(UndecidedChangeError);
    state.fails = undefined;
    expect(await world.entries()).toEqual(['administrator.grant accepted done']);
    await world.age(longest);
    await Promise.all([world.changes.settleLeft(), world.changes.settleLeft()]);
    await world.changes.settleLeft();
    const settled = ['administrator.grant accepted made', 'administrator.grant failed not-made'];
    expect((await world.entries()).slice(1).toSorted()).toEqual(settled);
  });

  test('the entry of a change that was left stays when the next change of the same right fails too', async () => {
    const state: { fails?: Failure } = { fails: 'after' };
    await using world = await openChanges({ storeOf: outside(state) });
    await expect(world.changes.grant(administrator('twice'), by('first'))).rejects.toThrow();
    await world.age(longest);
    await expect(world.changes.revoke(administrator('twice'), by('first'))).rejects.toThrow();
    await world.age(longest);
    await world.changes.settleLeft();
    const made = ['administrator.grant accepted twice', 'administrator.revoke accepted twice'];
    expect(await world.entries()).toEqual(made);
  });

  test('a change that may be in progress is not settled, and no other change of its object begins', async () => {
    const state: { fails?: Failure } = { fails: 'after' };
    await using world = await openChanges({ storeOf: outside(state) });
    await expect(world.changes.grant(administrator('slow'), by('first'))).rejects.toThrow();
    state.fails = undefined;
    await world.age(longest / 2);
    await world.changes.settleLeft();
    const refused = await world.changes.revoke(administrator('slow'), by('first')).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(RelationsUnavailableError);
    expect(refused).not.toBeInstanceOf(UndecidedChangeError);
    expect(await world.entries()).toEqual([]);
    await world.changes.grant(ofPolicy('other'), by('first'));
    await world.age(longest);
    await world.changes.revoke(administrator('slow'), by('first'));
    const settled = ['administrator.grant accepted slow', 'administrator.revoke accepted slow'];
    expect(await world.entries()).toEqual(['administrator.grant accepted other', ...settled]);
  });

  test('a change whose session ended while it asked the store is not made', async () => {
    const state: { whenAsked?: () => Promise<unknown> } = {};
    await using world = await openChanges({ storeOf: outside(state) });
    const { sql } = world.database;
    state.whenAsked = () => sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`;
    await expect(world.changes.grant(administrator('late'), by('first'))).rejects.toThrow(SqlUnavailableError);
    expect([await world.changes.list(), await world.left()]).toEqual([[administrator('first')], 0]);
  });

  test('to settle, nothing waits for the lock, and nothing holds it while the store does not answer', async () => {
    const state: { fails?: Failure; whenAsked?: () => Promise<unknown> } = { fails: 'after' };
    await using world = await openChanges({ storeOf: outside(state) });
    const { sql } = world.database;
    await expect(world.changes.grant(administrator('left'), by('first'))).rejects.toThrow();
    await world.age(longest);
    await sql.begin(async (own) => {
      await own`select pg_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0))`;
      await world.changes.settleLeft();
    });
    expect([await world.entries(), await world.left()]).toEqual([[], 1]);
    let free: unknown;
    state.whenAsked = async () => {
      [free] = await sql`select pg_try_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0)) as free`;
      throw new RelationsUnavailableError();
    };
    await expect(world.changes.settleLeft()).rejects.toThrow(RelationsUnavailableError);
    expect(free).toEqual({ free: true });
    delete state.whenAsked;
    await world.changes.settleLeft();
    expect([await world.entries(), await world.left()]).toEqual([['administrator.grant accepted left'], 0]);
  });

  test('a change that a newer release left is kept, reported once, and does not hold up others', async () => {
    const state: { fails?: Failure } = { fails: 'after' };
    await using world = await openChanges({ storeOf: outside(state) });
    await expect(world.changes.grant(administrator('newer'), by('first'))).rejects.toThrow();
    await world.database.sql`update management.right_changes set entry = '{"action":"newer"}'`;
    await expect(world.changes.grant(administrator('left'), by('first'))).rejects.toThrow();
    state.fails = undefined;
    await world.age(longest);
    await world.changes.grant(administrator('next'), by('first'));
    const made = ['administrator.grant accepted left', 'administrator.grant accepted next'];
    expect([await world.entries(), await world.left(), world.logged]).toEqual([made, 1, ['right_change_unreadable']]);
  });

  test('a right that the store cannot hold leaves nothing to settle', async () => {
    const state = outside({});
    const storeOf = (stored: Relations): Relations => ({
      ...state(stored),
      grant: () => Promise.reject(new RelationsModelError('bad_subject', 'is too long')),
    });
    await using world = await openChanges({ storeOf });
    await expect(world.changes.grant(administrator('long'), by('first'))).rejects.toThrow(RelationsModelError);
    expect(await world.left()).toBe(0);
  });
});
