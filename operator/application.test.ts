import { expect, test } from 'vitest';
import { kinds } from '#crds/kinds';
import type { RuntimeGeneration } from '#crds/runtime-generation';
import { startFakeReplica } from './testing/fake-replica.ts';
import { bindingObject, policyObject } from './testing/objects.ts';
import { startTestOperator, waitForCondition, waitForRoute } from './testing/start-test-operator.ts';

test('a binding is applied when its only replica took the route', async () => {
  await using platform = await startTestOperator();
  const { client } = platform;
  const replica = await startFakeReplica(platform, 'gateway-1');
  await client.create(kinds.modelBinding, bindingObject('chat'));
  await client.create(kinds.guardrailPolicy, policyObject('guard'));
  const route = await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  await replica.report('take');
  const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(binding.status?.applications).toMatchObject([{ outcome: 'Applied', generationId: route.spec.generationId }]);
  const generation = await client.get<RuntimeGeneration>(kinds.runtimeGeneration, route.spec.workload ?? '');
  expect(generation?.status).toMatchObject({ state: 'Ready', readyReplicas: 1 });
});
