import { expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { sampleAgentVersion } from '#kube/testing/sample-agents';
import type { GuardrailPolicy, PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { ServedPin } from '../served/ports.ts';
import { definitionOf, policyObject } from '../testing/objects.ts';
import { serveInMemory } from '../testing/served-in-memory.ts';
import { editPolicy, startTestOperator, type TestOperator } from '../testing/start-test-operator.ts';

const entryOf = (revision: number) => ({
  name: 'text',
  policyRef: { name: 'guard', revision },
  contentProfile: currentProfile,
  replicas: 1,
});
const passes: PolicyTest = {
  name: 'greets',
  stage: 'request',
  messages: [{ role: 'user', content: 'hello' }],
  expect: 'Pass',
};

async function workloads({ client }: TestOperator): Promise<readonly string[]> {
  const { items } = await client.list<RuntimeWorkload>(kinds.runtimeWorkload);
  return items.map(({ metadata }) => metadata.name);
}

test.concurrent('a served policy gets its address when its processes are ready and its tests passed, and moves to a new revision', async () => {
  const pins = new Map<string, ServedPin>();
  await using platform = await startTestOperator({ overrides: { served: serveInMemory([entryOf(1)], pins) } });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { tests: [passes] }));
  const first = await until('it is served', () => pins.get('text'));
  expect(first).toMatchObject({ policyRevision: '1', previous: [], token: '' });
  expect(await workloads(platform)).toEqual([first.workload]);
  const servedAs = async () =>
    (await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard'))?.status?.servedAs;
  await until('the status of the policy names the address', async () => (await servedAs())?.join() === 'text');
  expect(await editPolicy(platform, 'guard', { definition: definitionOf('second') })).toBe(2);

  const served = serveInMemory([entryOf(2)], pins);
  await platform.restart({ maxStreamMs: 5_000 }, { served });
  const second = await until('it moves', () =>
    pins.get('text')?.policyRevision === '2' ? pins.get('text') : undefined,
  );
  expect(second).toMatchObject({ previous: [first.workload] });
  expect(new Set(await workloads(platform))).toEqual(new Set([first.workload, second.workload]));
  await until('the previous workload is deleted', () => pins.get('text')?.previous.length === 0);
  await until('and goes', async () => !(await workloads(platform)).includes(first.workload));

  await platform.restart({}, { served: serveInMemory([], pins) });
  await until('a served policy that was removed from the list has no address and no processes', async () => {
    return pins.size === 0 && (await workloads(platform)).length === 0;
  });
  await until('the status of the policy names no address', async () => (await servedAs()) === undefined);
});

test.concurrent('a served policy whose new revision fails its tests keeps its previous address, and the new processes are removed', async () => {
  const pins = new Map<string, ServedPin>();
  await using platform = await startTestOperator({ overrides: { served: serveInMemory([entryOf(1)], pins) } });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  const first = await until('it is served', () => pins.get('text'));
  const denied: PolicyTest = { ...passes, expect: 'Reject' };
  expect(await editPolicy(platform, 'guard', { tests: [denied], definition: definitionOf('second') })).toBe(2);
  await platform.restart({}, { served: serveInMemory([entryOf(2)], pins) });
  await until('the processes of the new revision are started', async () => (await workloads(platform)).length === 2);
  await until('and go', async () => (await workloads(platform)).length === 1);
  expect(await workloads(platform)).toEqual([first.workload]);
  expect(pins.get('text')).toEqual(first);
  const servedNow = async () => {
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    return policy?.status?.conditions?.find(({ type }) => type === 'Served');
  };
  const failed = await until('the policy names the failure', async () => {
    const condition = await servedNow();
    return condition?.reason === 'ServedPolicyFailed' && condition;
  });
  expect(failed.status).toBe('False');
  expect(failed.message).toMatch(
    /^The served policy text does not serve revision 2: .*greets.* The address keeps revision 1\.$/,
  );
  const scraped = async (): Promise<string> => (await fetch(`${platform.operator.url}/metrics`)).text();
  expect(await scraped()).toMatch(/^portcullis_operator_policies_not_served\{.*\} 1$/m);
  expect(await scraped()).toMatch(/^portcullis_operator_policies_unlisted\{.*\} 0$/m);
  await platform.restart({}, { served: serveInMemory([entryOf(1)], pins) });
  await until('the failure ends with the entry', async () => (await servedNow())?.reason === 'Listed');
});

test.concurrent('a policy with a served name that was never served names its failure', async () => {
  await using platform = await startTestOperator({ overrides: { served: serveInMemory([entryOf(1)]) } });
  const denied: PolicyTest = { ...passes, expect: 'Reject' };
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard', { tests: [denied] }));
  const failed = await until('the policy names the failure', async () => {
    const policy = await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    const condition = policy?.status?.conditions?.find(({ type }) => type === 'Served');
    return condition?.status === 'False' && condition;
  });
  expect(failed).toMatchObject({
    reason: 'ServedPolicyFailed',
    message: expect.stringMatching(/does not serve revision 1: .*Nothing is served under this name\.$/),
  });
});

test.concurrent('a served policy that was removed from the list remains served while a version of an agent names it, and a condition of the policy reports it', async () => {
  const pins = new Map<string, ServedPin>();
  await using platform = await startTestOperator({ overrides: { served: serveInMemory([entryOf(1)], pins) } });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  const first = await until('it is served', () => pins.get('text'));
  const { metadata } = await platform.client.create(kinds.agentVersion, sampleAgentVersion('desk-1', 'text'));
  await platform.restart({}, { served: serveInMemory([], pins) });
  const statusOf = async () => (await platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard'))?.status;
  const conditionOf = async () => (await statusOf())?.conditions?.find(({ type }) => type === 'Served');
  const condition = await until('the condition reports it', async () => {
    const found = await conditionOf();
    return found?.status === 'False' && found;
  });
  expect(condition).toMatchObject({ reason: 'ServedPolicyUnlisted', message: expect.stringContaining('desk-1') });
  expect((await statusOf())?.servedAs).toEqual(['text']);
  expect([pins.get('text'), await workloads(platform)]).toEqual([first, [first.workload]]);
  const scraped = async (): Promise<string> => (await fetch(`${platform.operator.url}/metrics`)).text();
  expect(await scraped()).toMatch(/^portcullis_operator_policies_unlisted\{.*\} 1$/m);
  await platform.client.delete(kinds.agentVersion, 'desk-1', { uid: metadata.uid });
  await until('the address and its processes go', async () => {
    return pins.size === 0 && (await workloads(platform)).length === 0;
  });
  await until('the condition goes', async () => (await conditionOf()) === undefined);
  expect((await statusOf())?.servedAs).toBeUndefined();
});

test.concurrent('the deletion of a policy waits for the versions of agents that name it, served or not', async () => {
  await using platform = await startTestOperator({ overrides: { served: serveInMemory([]) } });
  const policy = await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  const versions = ['desk-1', 'desk-2'];
  for (const name of versions) await platform.client.create(kinds.agentVersion, sampleAgentVersion(name, 'guard'));
  const policyNow = () => platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
  await until('it is recorded', async () => (await policyNow())?.status?.latestRevision !== undefined);
  await deleteConfirmed(platform.client, kinds.guardrailPolicy, policy);
  const messageNow = async () => (await policyNow())?.status?.conditions?.find(({ type }) => type === 'Ready')?.message;
  await until('the deletion names them', async () =>
    (await messageNow())?.includes('agent version desk-1, agent version desk-2'),
  );
  for (const name of versions) {
    const version = await platform.client.get(kinds.agentVersion, name);
    expect(await policyNow()).toBeDefined();
    await platform.client.delete(kinds.agentVersion, name, { uid: version?.metadata.uid ?? '' });
  }
  await until('it goes', async () => (await policyNow()) === undefined);
});
