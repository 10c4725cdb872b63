import { expect, test } from 'vitest';
import type { ModelBinding } from '#resources/model-binding';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import {
  applyFirst,
  editBinding,
  startTestOperator,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const start = () => startTestOperator({ overrides: { workloads: createInstantWorkloads('test-1') } });
const outcomes = (binding: ModelBinding) => binding.status?.applications?.map(({ outcome }) => outcome);

test('a binding that moves to a gateway without a replica is not applied until one serves it', async () => {
  await using platform = await start();
  const first = await applyFirst(platform, [await startFakeReplica(platform, 'gateway-1')]);
  await editBinding(platform, 'chat', { gateway: 'other' });
  const waiting = await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  const condition = waiting.status?.conditions?.find(({ type }) => type === 'Applied');
  expect(condition?.message).toBe('no replica of gateway other is ready');
  const route = await waitForRoute(platform, 'chat', 'it is moved', ({ spec }) => spec.gateway === 'other');
  expect(route.spec.generationId).toBe(first.spec.generationId);
  await (await startFakeReplica(platform, 'gateway-2', 'other')).report('take');
  expect(outcomes(await waitForCondition(platform, 'chat', 'Applied', 'True'))).toEqual(['Applied']);
});

test('a new ready replica that cannot reach the workload sets the application back to in progress', async () => {
  await using platform = await start();
  const first = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [first]);
  const second = await startFakeReplica(platform, 'gateway-2');
  await second.report('pend');
  const open = await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  expect(open.status?.conditions?.find(({ type }) => type === 'Applied')?.message).toContain('gateway-2');
  await second.report('take');
  expect(outcomes(await waitForCondition(platform, 'chat', 'Applied', 'True'))).toEqual(['Applied']);
});
