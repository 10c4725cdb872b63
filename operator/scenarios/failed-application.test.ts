import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { routeFormatVersion } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { Judge } from '../bundles/ports.ts';
import { BrokenError } from '../reconcile/outcome.ts';
import { acceptingJudge } from '../testing/accepting-judge.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import { bindingObject, definitionOf, guardedBy } from '../testing/objects.ts';
import {
  applyFirst,
  createSkippingClock,
  createTestPolicy,
  editBinding,
  editPolicy,
  startTestOperator,
  type TestOperator,
  touchBinding,
  waitFor,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';
import type { WorkloadObservation, Workloads } from '../workloads/ports.ts';

const reasons = ({ status }: ModelBinding) => status?.applications?.map(({ reason, outcome }) => reason ?? outcome);
const messageOf = ({ status }: ModelBinding, condition: string) =>
  status?.conditions?.find(({ type }) => type === condition)?.message;

/** Waits until a condition of the binding names the dependency that is missing. */
async function waitForMessage(platform: TestOperator, condition: string, part: string): Promise<void> {
  await waitFor<ModelBinding>(
    platform,
    kinds.modelBinding,
    'chat',
    `${condition} names ${part}`,
    (binding) => messageOf(binding, condition)?.includes(part) === true,
  );
}

test.concurrent('an application that failed because of a technical fault is retried when the fault is resolved', async () => {
  let isMended = false;
  let tries = 0;
  const judge: Judge = {
    ...acceptingJudge,
    judge: async (bundle, signal) => {
      tries += 1;
      if (isMended) return acceptingJudge.judge(bundle, signal);
      throw new BrokenError('JudgeUnavailable', 'the bundle cannot be validated');
    },
  };
  /** The history of the condition WorkloadReady, with one entry for each write. */
  const written: (string | undefined)[] = [];
  const wrapClient = (client: KubeClient): KubeClient => ({
    ...client,
    async patchStatus<R extends KubeObject>(...args: Parameters<KubeClient['patchStatus']>) {
      const object = await client.patchStatus<R>(...args);
      const { kind, status } = object as unknown as ModelBinding;
      if (kind === kinds.modelBinding.kind) {
        written.push(status?.conditions?.find(({ type }) => type === 'WorkloadReady')?.reason);
      }
      return object;
    },
  });
  const workloads = createInstantWorkloads('test-1');
  const clock = createSkippingClock();
  await using platform = await startTestOperator({ overrides: { judge, workloads, wrapClient, clock } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await createTestPolicy(platform, 'guard');
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'WorkloadReady', 'False', 'JudgeUnavailable');
  clock.skip(600_000);
  await touchBinding(platform, 'chat');
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProgressDeadlineExceeded');
  const then = tries;
  await until('the application is retried', () => tries > then);
  isMended = true;
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  const applied = await waitForCondition(platform, 'chat', 'Ready', 'True');
  expect([reasons(applied)?.at(0), reasons(applied)?.at(-1)]).toEqual(['Applied', 'progress_deadline_exceeded']);
  expect(written.filter((reason) => reason === 'JudgeUnavailable')).toHaveLength(1);
});

test.concurrent('an application waits until the deadline for a replica that cannot read the route format, and is retried afterwards', async () => {
  let looks = 0;
  const judge: Judge = {
    ...acceptingJudge,
    judge: async (bundle, signal) => {
      looks += 1;
      return acceptingJudge.judge(bundle, signal);
    },
  };
  const overrides = { workloads: createInstantWorkloads('test-1'), judge };
  const clock = createSkippingClock();
  await using platform = await startTestOperator({ overrides: { ...overrides, clock } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await replica.report('take', { formats: [99] });
  await createTestPolicy(platform, 'guard');
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForMessage(platform, 'WorkloadReady', 'gateway-1');
  clock.skip(600_000);
  await touchBinding(platform, 'chat');
  const given = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProgressDeadlineExceeded');
  expect(messageOf(given, 'Applied')).toContain('gateway-1');
  expect(looks).toBeLessThan(20);
  await replica.report('take');
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect(reasons(await waitForCondition(platform, 'chat', 'Ready', 'True'))?.[0]).toBe('Applied');
});

/** Workloads whose processes are ready while `isOpen`; those that were ready stay so. */
function stubborn() {
  const instant = createInstantWorkloads('test-1');
  const ready = new Set<string>();
  let tell: (name: string) => void = () => undefined;
  let isOpen = true;
  const workloads: Workloads = {
    ...instant,
    observe(name): WorkloadObservation {
      if (isOpen) ready.add(name);
      return ready.has(name)
        ? instant.observe(name)
        : { addresses: [], ready: 0, problem: { reason: 'ContainerNotStarted', message: 'no Secret' } };
    },
    onChange(listener) {
      tell = listener;
      instant.onChange(listener);
    },
  };
  return {
    overrides: { workloads, judge: acceptingJudge },
    close() {
      isOpen = false;
    },
    open() {
      isOpen = true;
      for (const name of instant.running.keys()) tell(name);
    },
  };
}

async function workloadsOf({ client }: TestOperator): Promise<readonly string[]> {
  const { items } = await client.list<RuntimeWorkload>(kinds.runtimeWorkload);
  return items.map(({ metadata }) => metadata.name);
}

/** Revision 1 is applied; revision 2 failed because its processes are not ready. */
async function giveUpSecond() {
  const processes = stubborn();
  const clock = createSkippingClock();
  const platform = await startTestOperator({ overrides: { ...processes.overrides, clock } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  const first = await applyFirst(platform, [replica]);
  processes.close();
  const revision = await editPolicy(platform, 'guard', { definition: definitionOf('second') });
  await editBinding(platform, 'chat', { guardrail: guardedBy(revision), apply: 'second' });
  await waitForMessage(platform, 'WorkloadReady', 'no Secret');
  clock.skip(600_000);
  await touchBinding(platform, 'chat');
  const given = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProgressDeadlineExceeded');
  const [workload] = (await workloadsOf(platform)).filter((name) => name !== first.spec.workload);
  /** The first application still serves requests, and its route is unchanged. */
  const expectFirst = async (): Promise<void> => {
    const route = await waitForRoute(platform, 'chat', 'the route stands', () => true);
    expect(route.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    expect(await workloadsOf(platform)).toContain(first.spec.workload);
  };
  await expectFirst();
  const isGone = async (): Promise<boolean> =>
    workload !== undefined && !(await workloadsOf(platform)).includes(workload);
  return { platform, replica, processes, given, workload, expectFirst, isGone };
}

describe.concurrent('an application whose processes were not ready in time', () => {
  test('an application whose processes were late keeps them across a restart and is applied when they are ready', async () => {
    const { platform, replica, given, workload, expectFirst, isGone } = await giveUpSecond();
    await using _platform = platform;
    const processes = stubborn();
    processes.close();
    let looks = 0;
    const judge: Judge = {
      ...acceptingJudge,
      judge: async (...args) => {
        looks += 1;
        return acceptingJudge.judge(...args);
      },
    };
    await platform.restart({}, { ...processes.overrides, judge });
    await until('the binding is reconciled', () => looks > 0);
    // A second pass begins after the first pass has ended.
    await replica.report('take', { formats: [routeFormatVersion, 99] });
    await until('the binding is reconciled again', () => looks > 1);
    await expectFirst();
    const { metadata, status } = await waitForCondition(
      platform,
      'chat',
      'Applied',
      'False',
      'ProgressDeadlineExceeded',
    );
    expect([metadata.resourceVersion, status]).toEqual([given.metadata.resourceVersion, given.status]);
    expect(await isGone()).toBe(false);
    processes.open();
    await waitForRoute(platform, 'chat', 'the second application is pinned', ({ spec }) => spec.workload === workload);
    await replica.report('take');
    const applied = await waitForCondition(platform, 'chat', 'Ready', 'True');
    expect(reasons(applied)).toEqual(['Applied', 'progress_deadline_exceeded', 'Applied']);
  });

  test('the processes of a failed application are removed when the binding returns to the applied one', async () => {
    const { platform, expectFirst, isGone } = await giveUpSecond();
    await using _platform = platform;
    await editBinding(platform, 'chat', { guardrail: guardedBy(1), apply: bindingObject('chat').spec.apply });
    await until('they go', isGone);
    await waitForCondition(platform, 'chat', 'Ready', 'True');
    await expectFirst();
  });

  test('the processes of a failed application are removed when its policy is archived', async () => {
    const { platform, expectFirst, isGone } = await giveUpSecond();
    await using _platform = platform;
    await editPolicy(platform, 'guard', { lifecycle: 'Archived' });
    const ended = await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyArchived');
    expect(reasons(ended)).toEqual(['policy_archived', 'progress_deadline_exceeded', 'Applied']);
    await until('they go', isGone);
    await expectFirst();
  });

  test('a failed application does not block the deletion of its binding and its policy', async () => {
    const { platform, replica } = await giveUpSecond();
    await using _platform = platform;
    const { client } = platform;
    const policy = await client.get(kinds.guardrailPolicy, 'guard');
    if (policy !== undefined) await deleteConfirmed(client, kinds.guardrailPolicy, policy);
    await waitForCondition(platform, 'chat', 'Applied', 'False', 'PolicyArchived');
    const binding = await client.get(kinds.modelBinding, 'chat');
    if (binding !== undefined) await deleteConfirmed(client, kinds.modelBinding, binding);
    await until('the route goes', async () => (await client.get(kinds.gatewayRoute, 'chat')) === undefined);
    await replica.report('take');
    await until('binding, policy, route and workloads are deleted', async () => {
      const left = [await client.get(kinds.modelBinding, 'chat'), await client.get(kinds.guardrailPolicy, 'guard')];
      return left.every((one) => one === undefined) && (await workloadsOf(platform)).length === 0;
    });
  });

  test('a failed application becomes permanent when its policy is found to be too costly', async () => {
    const { platform, expectFirst, isGone } = await giveUpSecond();
    await using _platform = platform;
    const { overrides } = stubborn();
    const judgement = { kind: 'refused', reason: 'rule_too_costly', message: 'the rule takes too long' } as const;
    await platform.restart({}, { ...overrides, judge: { ...acceptingJudge, judge: async () => judgement } });
    const ended = await waitForCondition(platform, 'chat', 'Applied', 'False', 'RuleTooCostly');
    expect(reasons(ended)?.[0]).toBe('rule_too_costly');
    await until('they go', isGone);
    await expectFirst();
  });
});
