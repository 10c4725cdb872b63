import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileWriteError } from '#kit/files/write-atomic';
import { createFakeClock } from '#kit/testing/fake-clock';
import { until } from '#kit/testing/until';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { BundleStore } from '../bundles/ports.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';
import {
  applyFirst,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  waitFor,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

async function workloads(platform: TestOperator): Promise<readonly RuntimeWorkload[]> {
  return (await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items;
}

test.concurrent('after a restart while replicas confirm, the same application continues and is confirmed', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await applyFirst(platform, [replica]);
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'second' });
  const before = await waitForRoute(platform, 'chat', 'second is pinned', ({ spec }) => spec.token === 'second');
  await platform.restart();
  await replica.report('take');
  const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(binding.status?.applications?.[0]?.generationId).toBe(before.spec.generationId);
  const after = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(after?.spec).toEqual(before.spec);
  await until('only the workload of the application is left', async () => (await workloads(platform)).length === 1);
});

test.concurrent('after a restart during a rejection the previous application is restored', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'second' });
  await waitForRoute(platform, 'chat', 'second is pinned', ({ spec }) => spec.token === 'second');
  await platform.restart();
  await replica.report({ reject: 'digest_mismatch' });
  const back = await waitForRoute(
    platform,
    'chat',
    'the first application is restored',
    ({ spec }) => spec.token === '',
  );
  expect(back.spec.workload).toBe(first.spec.workload);
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'ReplicaRejected');
});

test.concurrent('an operator of another build runs the pinned application again, from its revision and not from the spec', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  await editBinding(platform, 'chat', { guardrail: guardedBy(9), apply: 'not there' });
  await waitForCondition(platform, 'chat', 'ResolvedRefs', 'False', 'PolicyRevisionUnknown');
  await platform.restart({ build: 'test-2' });
  const again = await waitForRoute(
    platform,
    'chat',
    'it runs again',
    ({ spec }) => spec.workload !== first.spec.workload,
  );
  expect(again.spec.guardrail).toMatchObject({ policyRevision: '1' });
  expect(again.spec.token).toBe('');
  expect(again.spec.generationId).not.toBe(first.spec.generationId);
  const generation = await platform.client.get<RuntimeWorkload>(kinds.runtimeWorkload, again.spec.workload ?? '');
  expect(generation?.spec).toMatchObject({ build: 'test-2', state: 'Active' });
  await replica.report('take');
  await until('the old workload is deleted', async () => (await workloads(platform)).length === 1);
});

test.concurrent('a build that cannot run the pinned application reports it and routes no traffic to it', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  const { acceptingJudge } = await import('../testing/accepting-judge.ts');
  const judge = {
    ...acceptingJudge,
    judge: async () =>
      ({ kind: 'refused', reason: 'bundle_invalid', message: 'the rule forbidden: another syntax' }) as const,
  };
  await platform.restart({ build: 'test-2' }, { judge });
  const degraded = await waitForCondition(platform, 'chat', 'WorkloadReady', 'False', 'RunningAgain');
  expect(degraded.status?.conditions?.find(({ type }) => type === 'WorkloadReady')?.message).toContain(
    'the rule forbidden: another syntax',
  );
  expect(degraded.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'False' });
  const old = await waitFor<RuntimeWorkload>(
    platform,
    kinds.runtimeWorkload,
    first.spec.workload ?? '',
    'the workload reports that it cannot run',
    ({ status }) => status?.conditions?.[0]?.reason === 'BuildMissing',
  );
  expect(old.status?.conditions?.[0]?.message).toContain('test-1');
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(route?.spec).toEqual(first.spec);
});

test.concurrent('a full disk is reported in the conditions, and the current application keeps serving', async () => {
  let isFull = false;
  const stored: BundleStore = {
    async put(_digest, _bytes) {
      if (isFull) throw new FileWriteError('disk_full', 'bundle', undefined);
      return { [Symbol.dispose]: () => undefined };
    },
    has: async () => true,
    sweep: async () => undefined,
    onLost: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const { acceptingJudge } = await import('../testing/accepting-judge.ts');
  const { createInstantWorkloads } = await import('../testing/instant-workloads.ts');
  const overrides = { bundles: stored, judge: acceptingJudge, workloads: createInstantWorkloads('test-1') };
  await using platform = await startTestOperator({ overrides });
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  isFull = true;
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'second' });
  const blocked = await waitForCondition(platform, 'chat', 'WorkloadReady', 'False', 'StorageFull');
  expect(blocked.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'StorageFull',
  });
  const route = await platform.client.get<GatewayRoute>(kinds.gatewayRoute, 'chat');
  expect(route?.spec).toEqual(first.spec);
  isFull = false;
  await waitForRoute(platform, 'chat', 'the disk has free space again', ({ spec }) => spec.token === 'second');
});

test.concurrent('a jump of the wall clock neither fails an application nor reorders outcomes', async () => {
  const clock = createFakeClock(new Date('2040-01-01T00:00:00Z'));
  let jumpMs = 0;
  const jumping = { now: () => performance.now(), date: () => new Date(clock.date().getTime() + jumpMs) };
  await using platform = await startTestOperator({ overrides: { clock: jumping } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  jumpMs = -20 * 365 * 86_400_000;
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'second' });
  await waitForCondition(platform, 'chat', 'Applied', 'Unknown', 'WaitingForReplicas');
  jumpMs = 20 * 365 * 86_400_000;
  await replica.report('take');
  const binding = await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(binding.status?.applications?.map(({ operationId }) => operationId)).toEqual(['second', '']);
  await until('the first workload is deleted', async () =>
    (await workloads(platform)).every(({ metadata }) => metadata.name !== first.spec.workload),
  );
});

test.concurrent('bundles that no workload names are removed', async () => {
  await using platform = await startTestOperator();
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  await editBinding(platform, 'chat', { guardrail: { mode: 'None' }, apply: 'open' });
  await waitForRoute(platform, 'chat', 'it is open', ({ spec }) => spec.guardrail.mode === 'None');
  await replica.report('take');
  await until('no bundle is left', async () => (await readdir(join(platform.data, 'bundles'))).length === 0);
});
