import { expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
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
  expect(await servedAs()).toEqual(['text']);
  expect(await editPolicy(platform, 'guard', { definition: definitionOf('second') })).toBe(2);

  const served = serveInMemory([entryOf(2)], pins);
  await platform.restart({ maxStreamMs: 1_500 }, { served });
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
});
