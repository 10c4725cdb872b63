import { expect, test } from 'vitest';
import { systemClock } from '#kit/time/clock';
import { RelationsUnavailableError } from '#relations/relations-error';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import { definitionOf } from '../../testing/objects.ts';
import { originOfKey } from './command-origin.ts';
import { type CommandPorts, executeCommand } from './execute-command.ts';
import { type NewCommand, RecordsUnavailableError } from './ports.ts';
import { recoverOperations } from './recover-operations.ts';

const leaseMs = 20_000;
const requestTimeoutMs = 5_000;
/** The last moment at which a request that times out ends within the lease. */
const lastMs = leaseMs - requestTimeoutMs - 1;
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

const unbind = {
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
    note: { author: 'somebody' },
  },
} as const;

/**
 * Ports of a process that is suspended after it has checked the right, with an API server that needs `answerMs` for
 * each answer; `did` lists the effects.
 */
function openPorts(
  suspendedMs: number,
  { sent = command, answerMs = 0, ageMs = 0 }: { sent?: object; answerMs?: number; ageMs?: number } = {},
) {
  const did: string[] = [];
  let now = 5_000;
  const does = (effect: string, result: unknown) => async () => {
    did.push(effect);
    now += answerMs;
    return result;
  };
  const row = { ...sent, operationId: command.operationId, accepted: false, createdAt: new Date(), ageMs };
  const metadata = { uid: 'uid', generation: 1, annotations: {} };
  const ports = {
    clock: { ...systemClock, now: () => now },
    logger: silentLogger,
    leaseMs,
    requestTimeoutMs,
    client: {
      get: answerMs === 0 ? async () => undefined : does('get', { metadata, spec: {} }),
      list: async () => ({ items: [] }),
      create: does('send', { metadata }),
      patch: does('send', { metadata }),
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
      begin: async () => ({ kind: 'begun', record: row, lease: 'first' }),
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
  [lastMs, 'accepted', ['send', 'accept']],
  [lastMs + 1, 'unknown', []],
] as const)(
  'a command whose process was suspended for %i ms of a lease of 20,000 ms ends as %s',
  async (suspendedMs, kind, effects) => {
    const { ports, did } = openPorts(suspendedMs);
    const executed = await executeCommand(ports, command as unknown as NewCommand);
    expect([executed.kind, did]).toEqual([kind, effects]);
  },
);

test.each([
  [true, RelationsUnavailableError],
  [false, RecordsUnavailableError],
] as const)(
  'a command whose right cannot be queried ends as undecided unless its process withdraws it (%s)',
  async (isOwn, error) => {
    const { ports } = openPorts(0);
    const unavailable = new RelationsUnavailableError();
    const rights = { has: () => Promise.reject(unavailable) } as unknown as CommandPorts['rights'];
    const store = { ...ports.store, withdraw: async () => isOwn };
    await expect(executeCommand({ ...ports, rights, store }, command as unknown as NewCommand)).rejects.toThrow(error);
  },
);

test.each([
  [lastMs, ['send', 'accept']],
  [lastMs + 1, []],
] as const)('recovery that was suspended for %i ms of a lease of 20,000 ms does %j', async (suspendedMs, effects) => {
  const { ports, did } = openPorts(suspendedMs);
  await recoverOperations(ports, async () => undefined);
  expect(did).toEqual(effects);
});

test.each([
  [50_000, 10_000, ['send', 'accept']],
  [50_000, 10_001, []],
  [60_000, 1, []],
] as const)(
  'recovery of an unbind that is %i ms old, and whose checks take %i ms, does %j',
  async (ageMs, suspendedMs, effects) => {
    const { ports, did } = openPorts(suspendedMs, { sent: unbind, ageMs });
    await recoverOperations(ports, async () => undefined);
    expect(did).toEqual(effects);
  },
);

test.each([
  [6_999, 'accepted', ['get', 'get', 'send', 'accept']],
  [7_000, 'unknown', ['get', 'get']],
] as const)(
  'an unbind that was suspended for %i ms ends as %s if the API server needs 4,000 ms for each of its requests',
  async (suspendedMs, kind, effects) => {
    const { ports, did } = openPorts(suspendedMs, { sent: unbind, answerMs: 4_000 });
    const executed = await executeCommand(ports, unbind as unknown as NewCommand);
    expect([executed.kind, did]).toEqual([kind, effects]);
  },
);

test('recovery sends no write of an unbind whose first requests took until the end of its lease', async () => {
  const { ports, did } = openPorts(lastMs, { sent: unbind, answerMs: 4_000 });
  await recoverOperations(ports, async () => undefined);
  expect(did).toEqual(['get', 'get', 'get']);
});

test.each([
  ['a creation', 900_000, ['send', 'accept'], command],
  ['a creation', 900_001, ['finish'], command],
  ['an unbind', 60_000, ['send', 'accept'], unbind],
  ['an unbind', 60_001, ['finish'], unbind],
] as const)('recovery of %s that is %i ms old does %j', async (_what, ageMs, effects, sent) => {
  const { ports, did } = openPorts(0, { sent, ageMs });
  await recoverOperations(ports, async () => undefined);
  expect(did).toEqual(effects);
});
