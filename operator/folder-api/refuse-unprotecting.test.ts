import { expect, test } from 'vitest';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { sampleAgent, sampleAgentVersion } from '#kube/testing/sample-agents';
import { sampleBinding, samplePolicy } from '#kube/testing/sample-resources';
import type { Agent } from '#resources/agent';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import { makeDataDirectory, openFolder } from './testing/open-folder.ts';

test('a policy is deleted only with a confirmation while bindings refer to it, and the refusal names them', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  const used = await client.create(kinds.guardrailPolicy, samplePolicy('used'));
  const unused = await client.create(kinds.guardrailPolicy, samplePolicy('unused'));
  const guardrail = { mode: 'Policy', policyRef: { name: 'used', revision: 1 } } as const;
  for (const name of ['one', 'two']) {
    const binding = sampleBinding(name);
    await client.create(kinds.modelBinding, { ...binding, spec: { ...binding.spec, guardrail } });
  }
  await expect(client.delete(kinds.guardrailPolicy, 'used', { uid: used.metadata.uid })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('the ModelBinding one, the ModelBinding two refers to the GuardrailPolicy used'),
  });
  await client.delete(kinds.guardrailPolicy, 'unused', { uid: unused.metadata.uid });
  await deleteConfirmed(client, kinds.guardrailPolicy, used);
  expect(await client.get(kinds.guardrailPolicy, 'used')).toBeUndefined();
});

test('a policy that versions of agents refer to, or that is served to services, is deleted only with a confirmation', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  const named = await client.create(kinds.guardrailPolicy, samplePolicy('named'));
  const served = await client.create(kinds.guardrailPolicy, samplePolicy('served'));
  await client.create(kinds.agentVersion, sampleAgentVersion('greeter-1', 'named'));
  const status = { ...served.status, servedAs: ['documents'] };
  await client.patchStatus(kinds.guardrailPolicy, 'served', [{ op: 'add', path: '/status', value: status }]);
  for (const [policy, user] of [
    [named, 'the AgentVersion greeter-1'],
    [served, 'the served policy documents'],
  ] as const) {
    const { name, uid } = policy.metadata;
    await expect(client.delete(kinds.guardrailPolicy, name, { uid })).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining(`${user} refers to the GuardrailPolicy ${name}`),
    });
    await deleteConfirmed(client, kinds.guardrailPolicy, policy);
    expect(await client.get(kinds.guardrailPolicy, name)).toBeUndefined();
  }
});

test('an agent serves a version with fewer checks only with a confirmation of its generation in the same change', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  for (const [name, policy] of [['guarded-1', 'p'], ['guarded-2', 'p'], ['open-1'], ['open-2']] as const) {
    await client.create(kinds.agentVersion, sampleAgentVersion(name, policy));
  }
  const agent = await client.create(kinds.agent, sampleAgent('desk', 'guarded-1'));
  const status = { conditions: [], observedGeneration: 1, checked: ['Input'] };
  await client.patchStatus(kinds.agent, 'desk', [{ op: 'add', path: '/status', value: status }]);
  const serve = (version: string, annotations = {}) =>
    client.patch<Agent>(kinds.agent, 'desk', [
      { op: 'add', path: '/metadata/annotations', value: annotations },
      { op: 'replace', path: '/spec/version', value: version },
    ]);
  const trial = { version: 'open-1', percent: 1 };
  const refusal = {
    code: 'invalid',
    message: expect.stringContaining('the version open-1 would leave what callers send UNGUARDED'),
  };
  await expect(serve('open-1')).rejects.toMatchObject(refusal);
  await expect(serve('open-1', { [confirmUnguardedAnnotation]: 'yes' })).rejects.toMatchObject(refusal);
  await expect(
    client.patch(kinds.agent, 'desk', [{ op: 'add', path: '/spec/canary', value: trial }]),
  ).rejects.toMatchObject(refusal);
  const { metadata } = await serve('guarded-2');
  const confirmation = { [confirmUnguardedAnnotation]: `${agent.metadata.uid}.${metadata.generation}` };
  expect((await serve('open-1', confirmation)).spec.version).toBe('open-1');
  await expect(serve('open-2', confirmation)).rejects.toMatchObject({ code: 'invalid' });
});

test('a version that its agent names already is created with fewer checks only with a confirmation of that agent', async () => {
  await using data = await makeDataDirectory();
  await using folder = await openFolder(data);
  const { client } = folder;
  await client.create(kinds.agentVersion, sampleAgentVersion('guarded-1', 'p'));
  await client.create(kinds.agent, sampleAgent('hello', 'guarded-1'));
  const { metadata } = await client.patch<Agent>(kinds.agent, 'hello', [
    { op: 'replace', path: '/spec/version', value: 'late-1' },
  ]);
  const status = { conditions: [], observedGeneration: 1, checked: ['Input'] };
  await client.patchStatus(kinds.agent, 'hello', [{ op: 'add', path: '/status', value: status }]);
  const late = (annotations: Readonly<Record<string, string>>) => {
    const version = sampleAgentVersion('late-1');
    return client.create(kinds.agentVersion, { ...version, metadata: { ...version.metadata, annotations } });
  };
  const refusal = {
    code: 'invalid',
    message: expect.stringContaining('the Agent hello names the version late-1, which would leave what callers send'),
  };
  await expect(late({})).rejects.toMatchObject(refusal);
  await expect(late({ [confirmUnguardedAnnotation]: `${metadata.uid}.1` })).rejects.toMatchObject(refusal);
  await client.create(kinds.agentVersion, sampleAgentVersion('other-1'));
  const confirmation = { [confirmUnguardedAnnotation]: `${metadata.uid}.${metadata.generation}` };
  expect((await late(confirmation)).metadata.name).toBe('late-1');
});
