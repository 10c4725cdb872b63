import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { silentLogger } from '../../folder-api/testing/open-folder.ts';
import { definitionOf } from '../../testing/objects.ts';
import { originOfKey } from './command-origin.ts';
import type { OpenCommandRecord } from './command-record.ts';
import type { CommandPorts } from './execute-command.ts';
import { startSettling } from './settle-loop.ts';

const hourMs = 3_600_000;

function policyOperation(operationId: string): OpenCommandRecord {
  return {
    operationId,
    kind: 'policy.create',
    state: 'running',
    target: { type: 'policy', id: 'p' },
    traceId: '0'.repeat(32),
    origin: originOfKey(null),
    accepted: true,
    overridesFreeze: false,
    written: { uid: 'uid', generation: 1 },
    result: undefined,
    failure: undefined,
    createdAt: new Date(0),
    updatedAt: new Date(0),
    write: {
      type: 'create_policy',
      objectName: 'p',
      spec: { displayName: 'p', description: '', lifecycle: 'Draft', definition: definitionOf('p') },
    },
  };
}

/** A loop over commands that were left; `did` lists its actions, in order. */
function openLoop(left: readonly string[], whileAdvancing: (operationId: string) => Promise<void>) {
  const did: string[] = [];
  let claims = 0;
  const ports = {
    clock: systemClock,
    logger: silentLogger,
    leaseMs: 1_000,
    store: {
      prune: async () => undefined,
      claim: async () => (claims++ === 0 ? left.map(policyOperation) : []),
      openOnModels: async (models: readonly string[] | 'all') => {
        did.push(`look at ${String(models)}`);
        return [];
      },
    },
    advance: async ({ operationId }: OpenCommandRecord) => {
      did.push(operationId);
      await whileAdvancing(operationId);
      return undefined;
    },
  } as unknown as CommandPorts;
  const sources = {
    caches: { onModelChange: () => undefined },
    reader: { read: async () => undefined },
  };
  return { did, start: (sweepMs: number) => startSettling(ports, sources, { recoverMs: hourMs, sweepMs }) };
}

test('a binding that changes while commands are recovered is settled before the next command', async () => {
  const entered = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const { did, start } = openLoop(['first', 'second'], async (operationId) => {
    if (operationId !== 'first') return;
    entered.resolve();
    await released.promise;
  });
  await using loop = start(hourMs);
  await entered.promise;
  loop.lookAt('m');
  await pause(60);
  released.resolve();
  await until('both commands were continued', () => did.includes('second'));
  expect(did).toEqual(['first', 'look at m', 'second']);
});

test('concurrent changes of one model are settled together, and all models are settled at intervals', async () => {
  const { did, start } = openLoop([], async () => undefined);
  await using loop = start(200);
  for (const id of ['m', 'n', 'm']) loop.lookAt(id);
  await until('all models were looked at', () => did.includes('look at all'));
  expect(did).toEqual(['look at m,n', 'look at all']);
});

test('a model that cannot be read does not delay the operations on other models', async () => {
  const ended: string[] = [];
  const onModel = (id: string): OpenCommandRecord =>
    ({
      ...policyOperation(`on-${id}`),
      target: { type: 'model', id },
      write: { type: 'write_binding', objectName: id, uid: 'uid', generation: 1, spec: { contentProfile: null } },
    }) as unknown as OpenCommandRecord;
  const ports = {
    clock: systemClock,
    logger: silentLogger,
    leaseMs: 1_000,
    store: {
      prune: async () => undefined,
      claim: async () => [],
      openOnModels: async () => ['broken', 'whole'].map(onModel),
      finish: async (operationId: string) => ended.push(operationId),
    },
  } as unknown as CommandPorts;
  const reader = {
    read: async (id: string) => {
      if (id === 'broken') throw new SyntaxError('not JSON');
      return undefined;
    },
  };
  const sources = { caches: { onModelChange: () => undefined }, reader };
  await using _loop = startSettling(ports, sources, { recoverMs: hourMs, sweepMs: 20 });
  await until('the operation on the other model ended', () => ended.length > 0);
  expect(new Set(ended)).toEqual(new Set(['on-whole']));
});
