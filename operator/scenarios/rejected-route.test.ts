import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  createSkippingClock,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  touchBinding,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

async function applySecond(platform: TestOperator, token = 'second') {
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf(token) });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: token });
  return waitForRoute(platform, 'chat', `${token} is pinned`, ({ spec }) => spec.token === token);
}

describe.concurrent('a replica that rejects', () => {
  test('a rejection before Applied restores the previous application under a new generation, once', async () => {
    await using platform = await startTestOperator();
    const one = await startFakeReplica(platform, 'gateway-1');
    const two = await startFakeReplica(platform, 'gateway-2');
    const first = await applyFirst(platform, [one, two]);
    const second = await applySecond(platform);
    await one.report('take');
    await two.report({ reject: 'digest_mismatch' });
    const back = await waitForRoute(
      platform,
      'chat',
      'the first application is restored',
      ({ spec }) => spec.token === '',
    );
    expect(back.spec.guardrail).toEqual(first.spec.guardrail);
    expect(back.spec.generationId).not.toBe(first.spec.generationId);
    expect(back.spec.refused).toMatchObject({
      token: 'second',
      generationId: second.spec.generationId,
      reason: 'replica_rejected',
    });
    const failed = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ReplicaRejected');
    const message = failed.status?.conditions?.find(({ type }) => type === 'Applied')?.message;
    expect(message).toContain('gateway-2');
    expect(message).toContain('digest_mismatch');
    expect(failed.status?.applications?.[0]).toMatchObject({ operationId: 'second', reason: 'replica_rejected' });

    // The rejected application is not retried, whatever the replicas report and whichever other field is edited.
    await one.report('take');
    await two.report('take');
    const { spec } = await editBinding(platform, 'chat', {});
    await editBinding(platform, 'chat', { model: { ...spec.model, upstreamModel: 'other' } });
    const kept = await waitForRoute(
      platform,
      'chat',
      'the edit arrives',
      (one_) => one_.spec.upstream.model === 'other',
    );
    expect(kept.spec).toMatchObject({ token: '', generationId: back.spec.generationId, refused: back.spec.refused });
    await one.report('take');
    await two.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'False', 'ReplicaRejected');

    // The next application starts, which removes the record of the rejected application.
    await editBinding(platform, 'chat', { apply: 'third' });
    const third = await waitForRoute(platform, 'chat', 'third is pinned', ({ spec: now }) => now.token === 'third');
    expect(third.spec.refused).toBeUndefined();
    await one.report('take');
    await two.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'True');
  });

  test('after a rejection the previous workload stays and the rejected one is removed', async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    const first = await applyFirst(platform, [replica]);
    const second = await applySecond(platform);
    // The only replica no longer uses the first workload and has not confirmed the second.
    await replica.report('pend', { inUse: [] });
    await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
    await replica.report({ reject: 'digest_mismatch' }, { inUse: [] });
    const back = await waitForRoute(
      platform,
      'chat',
      'the first application is restored',
      ({ spec }) => spec.token === '',
    );
    expect(back.spec.workload).toBe(first.spec.workload);
    await replica.report('take');
    await until('the rejected workload is deleted', async () => {
      const { items } = await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
      const names = items.map(({ metadata }) => metadata.name);
      return !names.includes(second.spec.workload ?? '') && names.includes(first.spec.workload ?? '');
    });
  });

  test('a rejection of the first application changes no route, and the condition names the replica', async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await platform.client.create(kinds.modelBinding, bindingObject('chat'));
    const route = await waitForRoute(platform, 'chat', 'the route is written', () => true);
    await replica.report({ reject: 'unreadable' });
    const failed = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ReplicaRejected');
    expect(failed.status?.applications).toMatchObject([{ outcome: 'Failed', reason: 'replica_rejected' }]);
    const kept = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
    expect(kept?.metadata.resourceVersion).toBe(route.metadata.resourceVersion);
  });

  test('a rejection after an unguarded application does not restore it', async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await platform.client.create(kinds.modelBinding, bindingObject('chat', { guardrail: { mode: 'None' } }));
    await waitForRoute(
      platform,
      'chat',
      'the unguarded route is written',
      ({ spec }) => spec.guardrail.mode === 'None',
    );
    await replica.report('take');
    await waitForCondition(platform, 'chat', 'Applied', 'True');
    await editBinding(platform, 'chat', { guardrail: guardedBy(1), apply: 'guarded' });
    const route = await waitForRoute(platform, 'chat', 'it is guarded', ({ spec }) => spec.guardrail.mode === 'Policy');
    await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
    await replica.report({ reject: 'unreachable' });
    await waitForCondition(platform, 'chat', 'Applied', 'False', 'ReplicaRejected');
    const kept = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
    expect(kept?.metadata.resourceVersion).toBe(route.metadata.resourceVersion);
  });

  test('a rejection after Applied changes no route, and a condition reports it', async () => {
    await using platform = await startTestOperator();
    const replica = await startFakeReplica(platform, 'gateway-1');
    const route = await applyFirst(platform, [replica]);
    await replica.report({ reject: 'digest_mismatch' });
    const rejected = await waitForCondition(platform, 'chat', 'RouteRejected', 'True', 'RejectedByReplica');
    const of = (type: string) => rejected.status?.conditions?.find((condition) => condition.type === type);
    expect(of('RouteRejected')?.message).toContain('gateway-1');
    expect(of('Applied')).toMatchObject({ status: 'True' });
    expect(of('Ready')).toMatchObject({ status: 'False', reason: 'RejectedByReplica' });
    const kept = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
    expect(kept?.metadata.resourceVersion).toBe(route.metadata.resourceVersion);
    await replica.report('take');
    await waitForCondition(platform, 'chat', 'RouteRejected', 'False');
    await waitForCondition(platform, 'chat', 'Ready', 'True');
  });
});

test.concurrent('a replica that does not confirm causes no rollback; the application fails at the deadline and may still become applied', async () => {
  const clock = createSkippingClock();
  await using platform = await startTestOperator({ overrides: { clock } });
  const one = await startFakeReplica(platform, 'gateway-1');
  const two = await startFakeReplica(platform, 'gateway-2');
  await applyFirst(platform, [one, two]);
  const second = await applySecond(platform);
  await one.report('take');
  clock.skip(600_000);
  await touchBinding(platform, 'chat');
  await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'ProgressDeadlineExceeded');
  const late = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
  expect(late?.status?.applications?.[0]).toMatchObject({
    operationId: 'second',
    outcome: 'Failed',
    reason: 'progress_deadline_exceeded',
  });
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(route?.spec.generationId).toBe(second.spec.generationId);
  await two.report('take');
  const applied = await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(applied.status?.applications?.map(({ outcome }) => outcome)).toEqual(['Applied', 'Failed', 'Applied']);
});

test.concurrent('an application that no replica confirms fails when its deadline passes, although nothing else happens', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  const second = await applySecond(platform);
  // The route is written before the short deadline begins, and no object is changed afterwards.
  await platform.restart({ progressDeadlineMs: 500 });
  const late = await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'ProgressDeadlineExceeded');
  expect(late.status?.applications?.[0]).toMatchObject({
    operationId: 'second',
    generationId: second.spec.generationId,
    outcome: 'Failed',
    reason: 'progress_deadline_exceeded',
  });
});

test.concurrent('the report of a replica that has ended is deleted and blocks no application', async () => {
  await using platform = await startTestOperator();
  const one = await startFakeReplica(platform, 'gateway-1');
  const two = await startFakeReplica(platform, 'gateway-2');
  await applyFirst(platform, [one, two]);
  await applySecond(platform);
  await one.report('take');
  await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  await two.die();
  await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(await platform.client.get(kinds.gatewayReport, 'gateway-2')).toBeUndefined();
});
