import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { systemClock } from '#kit/time/clock';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { controlPlane } from '#relations/model';
import { type Relations, RelationsUnavailableError } from '#relations/ports';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { grantFirstAdministrators } from './grant-first-administrators.ts';
import { createRightsRecord } from './record-rights.ts';

const names = ['http://issuer.test|ann', 'http://issuer.test|bob'];

async function openStart() {
  await using parts = new AsyncDisposableStack();
  const { database } = parts.use(await openTestDatabase());
  await migrate(database, { schema: 'management', folder: new URL('../migrations/', import.meta.url) });
  const relations = parts.use(await openPostgresRelations(database));
  const audit = await openPostgresAudit(database, 'management');
  const notes: string[] = [];
  const logger = { info: (event: string) => notes.push(event), error: () => undefined };
  const recordOver = (store: Relations) => createRightsRecord({ database, relations: store, audit }, logger);
  const owned = parts.move();
  return {
    database,
    relations,
    notes,
    recordOver,
    /** The first start of a replica. */
    start: (store: Relations = relations) =>
      grantFirstAdministrators(database, recordOver(store), { names, clock: systemClock, logger }),
    administrators: async () => (await relations.tuplesOf(controlPlane)).map(({ subject }) => subject.split('|')[1]),
    async entries() {
      const { entries } = await audit.read({ filter: {}, order: 'oldest', limit: 100 });
      return entries.map(({ content }) => content);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

describe.skipIf(missingPostgres !== undefined)(onPostgres('administrators of the setting'), () => {
  test('each first administrator gets one audit entry with the service as its author, even if replicas start at the same time', async () => {
    await using world = await openStart();
    await Promise.all([world.start(), world.start(), world.start()]);
    expect(await world.administrators()).toEqual(['ann', 'bob']);
    const entry = (name: string) => ({
      action: 'administrator.grant',
      outcome: 'accepted',
      author: { kind: 'service', name: 'management' },
      client: 'none',
      traceId: null,
      target: { type: 'control_plane', id: `control_plane:control-plane#administer@user:http%3A//issuer.test|${name}` },
    });
    expect(await world.entries()).toMatchObject([entry('ann'), entry('bob')]);
    const used = ['administrators_setting_not_used', 'administrators_setting_not_used', 'first_administrators_granted'];
    expect(world.notes.toSorted()).toEqual(used);
  });

  test('an installation that has an administrator is not changed and gets no audit entry', async () => {
    await using world = await openStart();
    await world.relations.grant([{ subject: 'user:test|zoe', relation: 'administer', object: controlPlane }]);
    await world.start();
    expect([await world.administrators(), await world.entries()]).toEqual([['zoe'], []]);
    expect(world.notes).toEqual(['administrators_setting_not_used']);
  });

  test('without the audit log no administrator is granted, and the next start grants them', async () => {
    await using world = await openStart();
    const { sql } = world.database;
    await sql`alter table audit.entries rename to entries_away`;
    await expect(world.start()).rejects.toThrow();
    expect(await world.administrators()).toEqual([]);
    await sql`alter table audit.entries_away rename to entries`;
    await world.start();
    expect([await world.administrators(), (await world.entries()).length]).toEqual([['ann', 'bob'], 2]);
  });

  test('an external store that grants a right but does not answer leaves its audit entries to be settled', async () => {
    await using world = await openStart();
    const { sql } = world.database;
    const unanswered: Relations = {
      ...world.relations,
      joinsTransactions: false,
      async grant(tuples) {
        await world.relations.grant(tuples);
        throw new RelationsUnavailableError();
      },
    };
    await expect(world.start(unanswered)).rejects.toThrow(RelationsUnavailableError);
    await world.start(unanswered);
    expect([await world.administrators(), await world.entries()]).toEqual([['ann', 'bob'], []]);
    await sql`update management.right_changes set created_at = clock_timestamp() - interval '30 s'`;
    await world.recordOver(unanswered).settleLeft();
    const outcomes = (await world.entries()).map(({ outcome, target }) => [outcome, target?.id.split('|')[1]]);
    expect(outcomes).toEqual([
      ['accepted', 'ann'],
      ['accepted', 'bob'],
    ]);
  });
});
