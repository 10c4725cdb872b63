import { expect, test } from 'vitest';
import type { KubeClient } from '#kube/client/client';
import { sampleBinding, samplePolicy } from '#kube/testing/sample-resources';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { readPolicyUsers } from './policy-references.ts';

const id = '01900000-0000-7000-8000-000000000001';
const policy = {
  ...samplePolicy('chat', { labels: { 'portcullis.dev/id': id } }),
  status: { conditions: [], servedAs: ['documents', 'texts'] },
} as unknown as Stored<GuardrailPolicy>;
const guardedBy = (name: string) => ({ mode: 'Policy', policyRef: { name, revision: 1 } });
const unguarded = { mode: 'None' };
const binding = (name: string, guardrail: object) => ({ ...sampleBinding(name), spec: { guardrail } });
const version = (name: string, input: object, output: object, requires: readonly object[] = []) => ({
  ...{ kind: 'AgentVersion', metadata: { name }, spec: { guardrails: { input, output }, requires } },
});
const route = (name: string, policyId: string) => ({
  metadata: { name },
  spec: { guardrail: { mode: 'Policy', policyId } },
});

/** A server with these objects by kind. */
function client(objects: Readonly<Record<string, readonly object[]>>): KubeClient {
  const list = async ({ kind }: Kind) => ({ items: objects[kind] ?? [], resourceVersion: '1' });
  return { list } as unknown as KubeClient;
}

test('the users of a policy are bindings that name it or serve it, versions of agents that name it, and names under which it is served', async () => {
  const users = await readPolicyUsers(
    client({
      ModelBinding: [
        binding('names', guardedBy('chat')),
        binding('other', guardedBy('strict')),
        binding('none', unguarded),
      ],
      GatewayRoute: [route('serves', id), route('names', id), route('other', id.replace(/1$/, '2'))],
      AgentVersion: [
        version('input-1', guardedBy('chat'), unguarded),
        version('both-1', guardedBy('chat'), guardedBy('chat')),
        version('output-1', guardedBy('strict'), guardedBy('chat')),
        version('served-1', guardedBy('documents'), unguarded),
        version('step-1', unguarded, unguarded, [{ kind: 'Policy', name: 'texts' }]),
        version('model-1', unguarded, unguarded, [{ kind: 'Model', name: 'chat' }]),
        version('other-1', guardedBy('strict'), unguarded),
      ],
    }),
    policy,
  );
  expect(users.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'ModelBinding names',
    'ModelBinding serves',
    'AgentVersion both-1',
    'AgentVersion input-1',
    'AgentVersion output-1',
    'AgentVersion served-1',
    'AgentVersion step-1',
    'ServedPolicy documents',
    'ServedPolicy texts',
  ]);
});

test('a policy that nothing names or serves has no users', async () => {
  expect(await readPolicyUsers(client({}), { ...policy, status: undefined })).toEqual([]);
});
