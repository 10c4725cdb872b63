import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import { sampleBinding, samplePolicy } from '#kube/testing/sample-resources';
import { describeError } from '../errors/describe-error.ts';
import type { ResourceSource } from '../resources/resource-source.ts';
import { addDelete } from './delete.ts';

/** A server that deletes the bindings `one` and `two`, and refuses to delete others. */
function source(refusal = new KubeError('unavailable', 'not now')): ResourceSource {
  const deleted = new Set<string>();
  const client = {
    namespace: 'default',
    get: async (_kind: unknown, name: string) => {
      const { metadata, ...binding } = sampleBinding(name);
      return deleted.has(name) ? undefined : { ...binding, metadata: { ...metadata, uid: `uid-${name}` } };
    },
    async delete(_kind: unknown, name: string) {
      if (!['one', 'two'].includes(name)) throw refusal;
      deleted.add(name);
    },
  } as unknown as KubeClient;
  return sourceOf(client);
}

function sourceOf(client: KubeClient): ResourceSource {
  return {
    program: 'portcullis',
    addOptions: (command) => command,
    addWriteOptions: (command) => command,
    open: async () => ({ client, [Symbol.asyncDispose]: async () => undefined }) as never,
    openLogs: async () => undefined as never,
  };
}

async function written(...args: readonly string[]): Promise<string> {
  const program = new Command().exitOverride();
  addDelete(program, source());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await expect(program.parseAsync(['delete', 'mb', ...args], { from: 'user' })).rejects.toThrow('not now');
    return write.mock.calls.map(([chunk]) => String(chunk)).join('');
  } finally {
    write.mockRestore();
  }
}

test('portcullis delete names the objects that it deleted before a deletion failed, as text and as JSON', async () => {
  expect(await written('one', 'two', 'three', 'four')).toBe(
    'ModelBinding one is deleted.\nModelBinding two is deleted.\n',
  );
  expect(JSON.parse(await written('one', 'two', 'three', '-o', 'json'))).toMatchObject([
    { kind: 'ModelBinding', name: 'one', deleted: true },
    { kind: 'ModelBinding', name: 'two', deleted: true },
  ]);
});

test.each([
  [['one', 'three'], 'refused'],
  [['three', 'one'], 'usage'],
])('portcullis delete of %j whose second name is denied ends with %s', async (names, exit) => {
  const program = new Command().exitOverride();
  addDelete(program, source(new KubeError('invalid', 'admission webhook denied it', { status: 400 })));
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const error = await program.parseAsync(['delete', 'mb', ...names], { from: 'user' }).catch((thrown) => thrown);
  write.mockRestore();
  expect(describeError(error)).toEqual({ exit, message: expect.stringContaining('admission webhook denied it') });
});

test('portcullis delete names a version of an agent that uses a policy, and deletes nothing without a confirmation', async () => {
  const guardrail = { mode: 'Policy', policyRef: { name: 'chat', revision: 1 } };
  const version = {
    metadata: { name: 'helper-1' },
    spec: { guardrails: { input: guardrail, output: { mode: 'None' } }, requires: [] },
  };
  const deleteObject = vi.fn(async () => undefined);
  const client = {
    namespace: 'default',
    get: async () => samplePolicy('chat'),
    list: async ({ kind }: { kind: string }) => ({
      items: kind === 'AgentVersion' ? [version] : [],
      resourceVersion: '1',
    }),
    delete: deleteObject,
  };
  const program = new Command().exitOverride();
  addDelete(program, sourceOf(client as unknown as KubeClient));
  await expect(program.parseAsync(['delete', 'gp', 'chat'], { from: 'user' })).rejects.toThrow(
    'The GuardrailPolicy chat is used by AgentVersion helper-1.',
  );
  expect(deleteObject).not.toHaveBeenCalled();
});

const general = 'You can delete guardrailpolicies, modelbindings, collections, agentversions and agents';
const ownedBy =
  (...owners: readonly (readonly [kind: string, name: string])[]) =>
  async () => ({
    metadata: { name: 'route', ownerReferences: owners.map(([kind, name]) => ({ kind, name })) },
  });
test.each([
  [
    'its only owner',
    ownedBy(['ModelBinding', 'one']),
    ` The GatewayRoute route is deleted with the ModelBinding one: "portcullis delete modelbinding one". ${general}`,
  ],
  [
    'the last of several owners',
    ownedBy(['ModelBinding', 'one'], ['Agent', 'helper']),
    ` The GatewayRoute route is deleted with the last of its owners: ModelBinding one, Agent helper. ${general}`,
  ],
  ['no owner', ownedBy(), ` only. ${general}`],
  ['an owner that the platform alone writes', ownedBy(['RuntimeWorkload', 'x']), ` only. ${general}`],
  ['no object of the name', async () => undefined, ` only. ${general}`],
  ['an object that cannot be read', () => Promise.reject(new KubeError('forbidden', 'no')), ` only. ${general}`],
])('portcullis delete of a kind of the platform names %s', async (_, get, told) => {
  const deleteObject = vi.fn(async () => undefined);
  const client = { namespace: 'default', get, delete: deleteObject } as unknown as KubeClient;
  const program = new Command().exitOverride();
  addDelete(program, sourceOf(client));
  await expect(program.parseAsync(['delete', 'gatewayroute', 'route'], { from: 'user' })).rejects.toThrow(told);
  expect(deleteObject).not.toHaveBeenCalled();
});
