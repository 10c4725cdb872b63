import { expect, test } from 'vitest';
import { systemClock } from '#kit/time/clock';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import { definitionOf } from '../../testing/objects.ts';
import { originOfKey } from './command-origin.ts';
import { type CommandPorts, executeCommand } from './execute-command.ts';
import type { NewCommand } from './ports.ts';
import { recoverOperations } from './recover-operations.ts';

const leaseMs = 20_000;
const command = {
  operationId: '01900000-0000-7000-8000-000000000001',
  kind: 'policy.create',
  target: { type: 'policy', id: '01900000-0000-7000-8000-0000000000aa' },
  traceId: '0'.repeat(32),
  origin: originOfKey(null),
  overridesFreeze: false,
  write: {
    type: 'create_policy',
    objectName: 'p',
    spec: { displayName: 'p', description: '', lifecycle: 'Draft', definition: definitionOf('p') },
  },
} as const;

/** Ports of a process that is suspended after it has asked for the right; `did` lists the effects. */
function openPorts(suspendedMs: number) {
  const did: string[] = [];
  let now = 5_000;
  const does = (effect: string, result: unknown) => async () => {
    did.push(effect);
    return result;
  };
  const row = { ...command, accepted: false, createdAt: new Date() };
  const ports = {
    clock: { ...systemClock, now: () => now },
    logger: silentLogger,
    leaseMs,
    client: {
      get: async () => undefined,
      list: async () => ({ items: [] }),
      create: does('send', { metadata: { uid: 'uid', generation: 1 } }),
    },
    rights: {
      async has() {
        now += suspendedMs;
        return true;
      },
    },
    approvals: { approverOf: async () => undefined, isLacking: async () => false },
    freezes: { frozenUntil: async () => undefined },
    store: {
      begin: async () => ({ kind: 'begun', record: row }),
      claim: async () => [row],
      accept: does('accept', { ...row, accepted: true }),
      withdraw: does('withdraw', true),
      finish: does('finish', true),
    },
    advance: async () => undefined,
  } as unknown as CommandPorts;
  return { ports, did };
}

test.each([
  [leaseMs - 1, 'accepted', ['send', 'accept']],
  [leaseMs, 'unknown', []],
] as const)(
  'a command whose process was suspended for %i ms of a lease of 20,000 ms ends as %s',
  async (suspendedMs, kind, effects) => {
    const { ports, did } = openPorts(suspendedMs);
    const executed = await executeCommand(ports, command as unknown as NewCommand);
    expect([executed.kind, did]).toEqual([kind, effects]);
  },
);

test.each([
  [leaseMs - 1, ['send', 'accept']],
  [leaseMs, []],
] as const)('recovery that was suspended for %i ms of a lease of 20,000 ms does %j', async (suspendedMs, effects) => {
  const { ports, did } = openPorts(suspendedMs);
  await recoverOperations(ports, async () => undefined);
  expect(did).toEqual(effects);
});
