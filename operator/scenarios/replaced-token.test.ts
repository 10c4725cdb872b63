import { v7 as uuidv7 } from 'uuid';
import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { applyManifest } from '#kube/apply/apply-manifest';
import { awaitRecordedWrite } from '#kube/apply/await-recorded-write';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyObject } from '../testing/objects.ts';
import { startTestOperator } from '../testing/start-test-operator.ts';

const kind = kinds.guardrailPolicy;

async function descriptionsOf(client: KubeClient): Promise<readonly string[]> {
  const { items } = await client.list<PolicyRevision>(kinds.policyRevision);
  return items.toSorted((a, b) => a.spec.number - b.spec.number).map(({ spec }) => spec.description);
}

/** A platform whose operator reads no policy until `open` is called, with a write of the management API that is not recorded. */
async function startUnrecorded(stack: AsyncDisposableStack) {
  const opened = Promise.withResolvers<void>();
  let gate = Promise.resolve();
  const wrapClient = (client: KubeClient): KubeClient => ({
    ...client,
    async get(of, name) {
      if (of === kind) await gate;
      return client.get(of, name);
    },
  });
  const { client } = stack.use(await startTestOperator({ overrides: { wrapClient } }));
  stack.defer(opened.resolve);
  await client.create(kind, policyObject('guard'));
  await until('the first revision is recorded', async () => (await descriptionsOf(client)).length === 1);
  gate = opened.promise;
  const policy = await client.patch<GuardrailPolicy>(kind, 'guard', [
    { op: 'replace', path: '/spec/description', value: 'by the API' },
    { op: 'add', path: '/spec/change', value: `${uuidv7()}/2` },
  ]);
  return { client, policy, open: opened.resolve };
}

test('a manifest that replaces the token of a write of the management API is written once that write is recorded', async () => {
  await using stack = new AsyncDisposableStack();
  const { client, open } = await startUnrecorded(stack);
  let reads = 0;
  const counting: KubeClient = {
    ...client,
    get: async (of, name) => {
      reads++;
      return client.get(of, name);
    },
  };
  const resource = { ...policyObject('guard'), spec: { ...policyObject('guard').spec, description: 'by a file' } };
  const applied = applyManifest(counting, { kind, resource }, { token: 'when_changed' });
  await until('the writer has looked for the record', () => reads > 5);
  expect((await client.get<GuardrailPolicy>(kind, 'guard'))?.metadata.generation).toBe(2);
  open();
  expect(await applied).toMatchObject({ action: 'configured', object: { metadata: { generation: 3 } } });
  await until('each version is recorded', async () => (await descriptionsOf(client)).length === 3);
  expect(await descriptionsOf(client)).toEqual([policyObject('guard').spec.description, 'by the API', 'by a file']);
});

test('a write of the management API that is not recorded delays a writer for a bounded time', async () => {
  await using stack = new AsyncDisposableStack();
  const { client, policy } = await startUnrecorded(stack);
  await awaitRecordedWrite(client, policy, 50);
  expect(await descriptionsOf(client)).toHaveLength(1);
});

test('a later edit that keeps the token of a write delays a writer until both versions are recorded', async () => {
  const spec = { ...policyObject('guard').spec, change: `${uuidv7()}/2` };
  const at = (reason: string): Stored<GuardrailPolicy> => {
    const status = { observedGeneration: 3, conditions: [{ type: 'Ready', status: 'Unknown', reason }] };
    const { metadata } = policyObject('guard');
    return { ...policyObject('guard'), spec, metadata: { ...metadata, uid: 'u', generation: 3 }, status } as never;
  };
  const answers = ['WaitingForRecord', 'WaitingForRecord', 'Recorded'];
  const get = (async () => at(answers.shift() ?? '')) as KubeClient['get'];
  await awaitRecordedWrite({ get }, at('WaitingForRecord'));
  expect(answers).toEqual([]);
  await awaitRecordedWrite({ get: () => expect.unreachable('a recorded policy is not read again') }, at('Recorded'));
});

test.each([
  ['a token of another client', { change: 'mine' }],
  ['no token', { change: undefined }],
])('a policy with %s delays no writer', async (_title, change) => {
  const read: KubeClient['get'] = () => {
    throw new Error('the policy was read');
  };
  const policy = { ...policyObject('guard'), spec: { ...policyObject('guard').spec, ...change } };
  const stored = { ...policy, metadata: { ...policy.metadata, uid: 'u', generation: 2 } } as Stored<GuardrailPolicy>;
  await expect(awaitRecordedWrite({ get: read }, stored)).resolves.toBeUndefined();
});
