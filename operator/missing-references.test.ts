import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kinds } from '#crds/kinds';
import { startFakeReplica } from './testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from './testing/objects.ts';
import {
  applyFirst,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  testProviders,
  waitForCondition,
  waitForRoute,
} from './testing/start-test-operator.ts';

const later = `${testProviders}
  - { name: later, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }
`;

/** What is missing stands in a condition of the binding, by name. */
async function expectMissing(platform: TestOperator, reason: string, says: string): Promise<void> {
  const { status } = await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', reason);
  expect(status?.conditions?.find(({ type }) => type === 'ResolvedRefs')?.message).toContain(says);
}

test('a policy that is missing is named, and its binding is applied when it appears', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await expectMissing(platform, 'PolicyNotFound', 'the policy guard of');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Ready', 'True');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test('a policy that appears after its binding was given up is applied, too', async () => {
  await using platform = await startTestOperator({ config: { progressDeadlineMs: 1_000 } });
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'Applied', 'False');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test('a revision that is missing is named, and is applied when it appears', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  await editBinding(platform, 'chat', { guardrail: guardedBy(2), apply: 'two' });
  await expectMissing(platform, 'PolicyRevisionUnknown', 'revision 2');
  await editPolicy(platform, 'guard', { definition: definitionOf('harbour') });
  await waitForRoute(platform, 'chat', 'two is pinned', ({ spec }) => spec.token === 'two');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'True');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
});

test('a provider of a model that is not approved is named, and is taken when it is', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  const model = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  await editBinding(platform, 'chat', { model });
  await expectMissing(platform, 'ProviderUnknown', 'later');
  await writeFile(join(platform.data, 'providers.yaml'), later);
  await platform.restart();
  await waitForRoute(platform, 'chat', 'the provider is taken', ({ spec }) => spec.upstream.provider === 'later');
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'True');
  await waitForCondition(platform, 'chat', 'Ready', 'True');
});

test('a new binding whose provider is not approved ends with a condition that names it, and is applied by a new token', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const model = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat', { model }));
  await expectMissing(platform, 'ProviderUnknown', 'later');
  await writeFile(join(platform.data, 'providers.yaml'), later);
  await platform.restart();
  await editBinding(platform, 'chat', { apply: 'again' });
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  await waitForCondition(platform, 'chat', 'Ready', 'True');
});
