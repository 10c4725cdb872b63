import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { systemClock } from '#kit/time/clock';
import { openPostgresRelations } from '#relations/adapters/postgres/postgres-relations';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { roleRight } from '../../../access/required-right.ts';
import { tupleOfRight } from '../../../access/right-tuples.ts';
import { createRights } from '../../../access/rights.ts';
import { approvalEntry } from '../../approve-command.ts';
import { createApprovalStore } from './approval-store.ts';
import { createFreezeStore } from './freeze-store.ts';

const issuer = 'http://issuer.test';
const target = { type: 'model', id: '01900000-0000-7000-8000-0000000000bb' } as const;
const caller = {
  subject: 'admin',
  author: { kind: 'token' as const, issuer, subject: 'admin', actors: [] },
  groups: [],
};
const administrator = tupleOfRight({ role: 'administrator', holder: { issuer, subject: 'admin' } });
const freezeId = '01900000-0000-7000-8000-0000000000cc';
const window = { startsAt: '2026-01-01T00:00:00.000Z', endsAt: '2999-01-01T00:00:00.000Z' };

async function openStores() {
  await using parts = new AsyncDisposableStack();
  const { database } = parts.use(await openTestDatabase());
  const folder = new URL('../../../migrations/', import.meta.url);
  await migrate(database, { schema: 'management', folder });
  const relations = parts.use(await openPostgresRelations(database));
  const audit = await openPostgresAudit(database, 'management');
  const rights = createRights(relations);
  await relations.grant([administrator]);
  const isAllowed = () => rights.has(caller, roleRight('administer'));
  const entry = approvalEntry(
    'approval.release',
    target,
    { caller, client: 'loopback', traceId: '0'.repeat(32) },
    systemClock.date(),
  );
  const stores = { approvals: createApprovalStore(database, audit), freezes: createFreezeStore(database, audit) };
  const asked = { isAllowed, entry, entryOf: () => entry };
  const owned = parts.move();
  return { database, relations, audit, ...stores, asked, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
type Stores = Awaited<ReturnType<typeof openStores>>;

describe.skipIf(missingPostgres !== undefined)(onPostgres('changes of rules and windows'), () => {
  test.each<[string, (stores: Stores) => Promise<unknown>]>([
    ['a rule', ({ approvals, asked }) => approvals.setRule(target, false, asked)],
    ['a new window', ({ freezes, asked }) => freezes.add({ id: freezeId, target, ...window }, asked)],
    ['the end of a window', ({ freezes, asked }) => freezes.remove(freezeId, asked)],
  ])(
    '%s that waits while the right of its author is revoked does not take effect and is not recorded',
    async (_what, change) => {
      await using stores = await openStores();
      const { sql } = stores.database;
      await sql`insert into management.approval_rules values (${target.type}, ${target.id})`;
      await sql`insert into management.freezes values
      (gen_random_uuid(), ${target.type}, ${target.id}, ${window.startsAt}, ${window.endsAt})`;
      const before = [await stores.approvals.rules(), await stores.freezes.list()];
      const late = await sql.begin(async (own) => {
        await own`select pg_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0))`;
        const waiting = change(stores);
        await stores.relations.revoke([administrator]);
        return { waiting };
      });
      expect(await late.waiting).toBe('not_allowed');
      expect([await stores.approvals.rules(), await stores.freezes.list()]).toEqual(before);
      expect((await stores.audit.read({ filter: {}, order: 'newest', limit: 10 })).entries).toEqual([]);
    },
  );

  test('more concurrent approvals than the pool has connections are all answered', async () => {
    await using stores = await openStores();
    const { approvals, asked } = stores;
    const requester = { ...caller.author, subject: 'asker' };
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        approvals.request({
          kind: 'binding.apply',
          target,
          digest: String(at),
          after: null,
          requester: 'asker',
          author: requester,
        }),
      ),
    );
    const answers = await Promise.all(ids.map((id) => approvals.approve(id, caller, asked)));
    expect(new Set(answers)).toEqual(new Set(['approved']));
  });
});
