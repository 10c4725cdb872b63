import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import type { ControlRight } from '#contracts/rights';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { issuerGroup } from '#relations/subject';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { createRightChanges } from './change-rights.ts';
import { createRightsRecord } from './record-rights.ts';
import { tupleOfRight } from './right-tuples.ts';
import { createRights } from './rights.ts';

const issuer = 'http://issuer.test';
const administrator = (subject: string): ControlRight => ({ role: 'administrator', holder: { issuer, subject } });
const by = (subject: string) => ({
  author: { kind: 'token' as const, issuer, subject, actors: [] },
  groups: [],
  client: 'loopback' as const,
  traceId: '0'.repeat(32),
});

/** @param hurried the clock advances by ten seconds at each check */
async function openChanges({
  undecided = async (): Promise<readonly string[]> => [],
  hurried = false,
}: {
  readonly undecided?: () => Promise<readonly string[]>;
  readonly hurried?: boolean;
} = {}) {
  let looks = 0;
  const clock = hurried ? { ...systemClock, now: () => looks++ * 10_000 } : systemClock;
  await using parts = new AsyncDisposableStack();
  const { database } = parts.use(await openTestDatabase());
  await migrate(database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
  const relations = parts.use(await openPostgresRelations(database));
  const audit = await openPostgresAudit(database, 'management');
  const rights = createRights(relations);
  const store = { undecided };
  const record = createRightsRecord({ database, relations, audit }, { error: () => undefined });
  const changes = createRightChanges({ record, relations, rights, store, clock });
  await relations.grant([tupleOfRight(administrator('first'))]);
  const owned = parts.move();
  /** Action, outcome and holder of each entry, the oldest first. */
  async function entries() {
    const page = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
    return page.entries.map(({ content: { action, outcome, target } }) => {
      return `${action} ${outcome} ${target?.id.split('|')[1]}`;
    });
  }
  return {
    database,
    relations,
    audit,
    changes,
    entries,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of rights'), () => {
  test('more concurrent changes of rights than the pool has connections all take effect', async () => {
    await using world = await openChanges();
    const subjects = Array.from({ length: 30 }, (_, at) => `subject-${at}`);
    const answers = await Promise.all(subjects.map((one) => world.changes.grant(administrator(one), by('first'))));
    expect(answers).toEqual(subjects.map(() => 'changed'));
    expect(await world.changes.list()).toHaveLength(31);
  });

  test('a revocation is not reported as complete while a command that was stored before it has not ended', async () => {
    await using world = await openChanges({ undecided: async () => ['stuck'], hurried: true });
    await world.changes.grant(administrator('second'), by('first'));
    expect(await world.changes.revoke(administrator('second'), by('first'))).toBe('undecided');
    expect(await world.changes.list()).toEqual([administrator('first')]);
  });

  test('a change of rights that waits while the right of its author is revoked does not take effect and is not recorded', async () => {
    await using world = await openChanges();
    const { sql } = world.database;
    await world.changes.grant(administrator('second'), by('first'));
    const late = await sql.begin(async (own) => {
      await own`select pg_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0))`;
      const waiting = world.changes.grant(administrator('friend'), by('second'));
      await world.relations.revoke([tupleOfRight(administrator('second'))]);
      return { waiting };
    });
    expect(await late.waiting).toBe('no_right');
    expect(await world.changes.list()).toEqual([administrator('first')]);
    const { entries } = await world.audit.read({ filter: {}, order: 'newest', limit: 10 });
    expect(entries.map(({ content }) => content.target?.id)).toEqual([expect.stringContaining('second')]);
  });

  test('a change of rights whose process dies before the right is granted leaves neither the right nor an audit entry', async () => {
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

  test('one administrator keeps the right, even when two administrators revoke their own rights at the same time', async () => {
    await using world = await openChanges();
    const { changes } = world;
    expect(await changes.revoke(administrator('first'), by('first'))).toBe('last');
    await changes.grant(administrator('second'), by('first'));
    const answers = ['first', 'second'].map((one) => changes.revoke(administrator(one), by(one)));
    expect((await Promise.all(answers)).toSorted()).toEqual(['changed', 'last']);
    expect(await changes.list()).toHaveLength(1);
  });

  test('a group counts as another administrator only for an author who is in it', async () => {
    await using world = await openChanges();
    const { changes, relations } = world;
    const group = (name: string): ControlRight => ({ role: 'administrator', holder: { issuer, group: name } });
    await changes.grant(group('typo'), by('first'));
    expect(await changes.revoke(administrator('first'), by('first'))).toBe('last');
    const emergency = { ...by('first'), author: { kind: 'service' as const, name: 'break-glass' } };
    expect(await changes.revoke(administrator('first'), emergency)).toBe('last');
    const claiming = { ...by('first'), groups: [issuerGroup(issuer, 'typo')] };
    expect(await changes.revoke(administrator('first'), claiming)).toBe('changed');
    expect(await changes.revoke(group('typo'), claiming)).toBe('last');

    await changes.grant(group('stored'), claiming);
    const { subject } = tupleOfRight(administrator('first'));
    await relations.grant([{ subject, relation: 'member', object: issuerGroup(issuer, 'stored') }]);
    expect(await changes.revoke(group('typo'), by('first'))).toBe('changed');
    expect(await changes.list()).toEqual([group('stored')]);
  });
});
