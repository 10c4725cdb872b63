import { describe, expect, test } from 'vitest';
import { openPostgresAudit } from '#audit/adapters/postgres/postgres-audit';
import { type Clock, systemClock } from '#kit/time/clock';
import { migrate } from '#sql/migrate';
import { missingPostgres, onPostgres, openTestDatabase } from '#sql/testing/test-database';
import { silentLogger } from '../../../../folder-api/testing/open-folder.ts';
import { definitionOf } from '../../../../testing/objects.ts';
import { originOfKey } from '../../command-origin.ts';
import { type CommandPorts, executeCommand } from '../../execute-command.ts';
import type { NewCommand, OperationStore } from '../../ports.ts';
import { recoverOperations } from '../../recover-operations.ts';
import { createApprovalStore } from './approval-store.ts';
import { createFreezeStore } from './freeze-store.ts';
import { createOperationStore } from './operation-store.ts';

const leaseMs = 20_000;
const command: NewCommand = {
  operationId: '01900000-0000-7000-8000-000000000001',
  kind: 'policy.create',
  target: { type: 'policy', id: '01900000-0000-7000-8000-0000000000aa' },
  traceId: '0'.repeat(32),
  origin: originOfKey(null),
  subject: 'user:test|author',
  key: 'withdrawn-command-key',
  fingerprint: 'none',
  approval: undefined,
  saving: undefined,
  overridesFreeze: false,
  write: {
    type: 'create_policy',
    objectName: 'p',
    spec: { displayName: 'p', description: '', lifecycle: 'Draft', definition: definitionOf('p') },
  },
};

const unbind: NewCommand = {
  ...command,
  kind: 'binding.unbind',
  target: { type: 'model', id: '01900000-0000-7000-8000-0000000000bb' },
  write: {
    type: 'write_binding',
    objectName: 'm',
    uid: 'uid',
    generation: 1,
    guardrail: { mode: 'None' },
    contentProfile: 'text.v1',
    policyId: null,
  },
};

/**
 * Opens two replicas with one database. Only the first replica checks rights with `has`; `clock` belongs to the second.
 */
async function openReplicas(has: () => Promise<boolean>, clock: Clock = systemClock) {
  await using parts = new AsyncDisposableStack();
  const { database } = parts.use(await openTestDatabase());
  const folder = new URL('../../../migrations/', import.meta.url);
  await migrate(database, { schema: 'management', folder });
  const audit = await openPostgresAudit(database, 'management');
  const quotas = { exceededBy: () => undefined, unseenMs: 0 } as unknown as Parameters<typeof createOperationStore>[2];
  const sent: string[] = [];
  const portsOf = (name: string, asked: () => Promise<boolean>) => {
    const store = createOperationStore(database, audit, quotas, () => undefined);
    return {
      clock: systemClock,
      logger: silentLogger,
      leaseMs,
      requestTimeoutMs: 5_000,
      store,
      rights: { has: asked },
      approvals: createApprovalStore(database, audit),
      freezes: createFreezeStore(database, audit),
      client: {
        get: async () => undefined,
        list: async () => ({ items: [] }),
        patch: async () => {
          sent.push(name);
          return { metadata: { uid: 'uid', generation: 2 } };
        },
        create: async () => {
          sent.push(name);
          return { metadata: { uid: 'uid', generation: 1 } };
        },
      },
      advance: async () => undefined,
    } as unknown as CommandPorts & { readonly store: OperationStore };
  };
  const first = portsOf('first', has);
  const second = { ...portsOf('second', async () => true), clock };
  const outcomes = async () =>
    (await audit.read({ filter: {}, order: 'oldest', limit: 10 })).entries.map(({ content }) => content.outcome);
  /** Ends the lease of the first replica, as when it was suspended for that long. */
  const endLease = () => database.sql`update management.operations set leased_until = leased_until - interval '1 hour'`;
  const setAge = (seconds: number) =>
    database.sql`update management.operations set created_at = clock_timestamp() - ${seconds} * interval '1 second'`;
  const owned = parts.move();
  return { first, second, sent, outcomes, endLease, setAge, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

describe.skipIf(missingPostgres !== undefined)(
  onPostgres('a command whose process was suspended before its right was lost'),
  () => {
    test('a refused command is withdrawn with its key while its process holds its lease', async () => {
      await using replicas = await openReplicas(async () => false);
      const { store } = replicas.first;
      expect((await executeCommand(replicas.first, command)).kind).toBe('refused');
      expect([await store.get(command.operationId), await store.findKey(command.subject, command.key)]).toEqual([
        undefined,
        undefined,
      ]);
    });

    test('a command that recovery carries out is not withdrawn: its answer is unknown, and its effect is in the audit log', async () => {
      await using replicas = await openReplicas(async () => {
        await replicas.endLease();
        // Claimed, and not sent before the first replica has its answer.
        const claimed = await replicas.second.store.claim(1, leaseMs);
        expect(claimed).toHaveLength(1);
        return false;
      });
      const { first, second } = replicas;
      expect((await executeCommand(first, command)).kind).toBe('unknown');
      expect(await second.store.undecided()).toEqual([command.operationId]);
      await replicas.endLease();
      await recoverOperations(second, async () => undefined);
      expect([replicas.sent, await replicas.outcomes()]).toEqual([['second'], ['accepted']]);
    });

    test('a command whose process lost the lease was accepted if recovery has executed it', async () => {
      await using replicas = await openReplicas(async () => {
        await replicas.endLease();
        await recoverOperations(replicas.second, async () => undefined);
        return false;
      });
      expect((await executeCommand(replicas.first, command)).kind).toBe('accepted');
      expect([replicas.sent, await replicas.outcomes()]).toEqual([['second'], ['accepted']]);
    });

    test('a command whose process lost the lease was refused if recovery has ended it without an effect', async () => {
      await using replicas = await openReplicas(async () => {
        await replicas.endLease();
        const end = { kind: 'failed', code: 'not_executed', message: '' } as const;
        await replicas.second.store.finish(command.operationId, end);
        await replicas.endLease();
        return false;
      });
      expect((await executeCommand(replicas.first, command)).kind).toBe('refused');
      expect(replicas.sent).toEqual([]);
    });
  },
);

describe.skipIf(missingPostgres !== undefined)(onPostgres('the age of a stored command'), () => {
  test.each([
    [-300_000, 50, ['second'], ['accepted']],
    [-300_000, 61, [], ['refused']],
    [300_000, 50, ['second'], ['accepted']],
  ] as const)(
    'the age of a stored command is measured by the database: a replica whose clock is %i ms off finds an unbind of %i seconds',
    async (offMs, seconds, sent, outcomes) => {
      const clock = { ...systemClock, date: () => new Date(Date.now() + offMs) };
      await using replicas = await openReplicas(async () => true, clock);
      await replicas.first.store.begin(unbind, leaseMs);
      await replicas.endLease();
      await replicas.setAge(seconds);
      await recoverOperations(replicas.second, async () => undefined);
      expect([replicas.sent, await replicas.outcomes()]).toEqual([sent, outcomes]);
    },
  );
});
