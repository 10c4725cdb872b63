import { expect, test } from 'vitest';
import { kinds } from '#crds/kinds';
import type { ModelBinding } from '#crds/model-binding';
import type { KubeClient } from '#kube/client';
import type { KubeObject } from '#kube/kube-object';
import { until } from '../e2e/support/until.ts';
import type { Judge } from './bundles/ports.ts';
import { BrokenError } from './reconcile/outcome.ts';
import { acceptingJudge } from './testing/accepting-judge.ts';
import { startFakeReplica } from './testing/fake-replica.ts';
import { createInstantWorkloads } from './testing/instant-workloads.ts';
import { bindingObject, policyObject } from './testing/objects.ts';
import { startTestOperator, waitForCondition, waitForRoute } from './testing/start-test-operator.ts';

const soon = { progressDeadlineMs: 500 };

const reasons = ({ status }: ModelBinding) => status?.applications?.map(({ reason, outcome }) => reason ?? outcome);

test('an application that was given up because of a technical fault goes on when it is mended', async () => {
  let isMended = false;
  let tries = 0;
  const judge: Judge = {
    ...acceptingJudge,
    judge: async (bundle, signal) => {
      tries += 1;
      if (isMended) return acceptingJudge.judge(bundle, signal);
      throw new BrokenError('JudgeUnavailable', 'no judgement can be made');
    },
  };
  /** What GenerationReady said, write by write. */
  const written: (string | undefined)[] = [];
  const wrapClient = (client: KubeClient): KubeClient => ({
    ...client,
    async patchStatus<R extends KubeObject>(...args: Parameters<KubeClient['patchStatus']>) {
      const object = await client.patchStatus<R>(...args);
      const { kind, status } = object as unknown as ModelBinding;
      if (kind === kinds.modelBinding.kind) {
        written.push(status?.conditions?.find(({ type }) => type === 'GenerationReady')?.reason);
      }
      return object;
    },
  });
  const workloads = createInstantWorkloads('test-1');
  await using platform = await startTestOperator({ config: soon, overrides: { judge, workloads, wrapClient } });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProgressDeadlineExceeded');
  const then = tries;
  await until('it is tried again', () => tries > then);
  isMended = true;
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  const applied = await waitForCondition(platform, 'chat', 'Ready', 'True');
  expect([reasons(applied)?.at(0), reasons(applied)?.at(-1)]).toEqual(['Applied', 'progress_deadline_exceeded']);
  expect(written.filter((reason) => reason === 'JudgeUnavailable')).toHaveLength(1);
});

test('a replica that does not read the format of routes is waited for until the deadline, and then again', async () => {
  let looks = 0;
  const judge: Judge = {
    ...acceptingJudge,
    judge: async (bundle, signal) => {
      looks += 1;
      return acceptingJudge.judge(bundle, signal);
    },
  };
  const overrides = { workloads: createInstantWorkloads('test-1'), judge };
  await using platform = await startTestOperator({ config: soon, overrides });
  const replica = await startFakeReplica(platform, 'gateway-1');
  await replica.report('take', { formats: [99] });
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  const given = await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProgressDeadlineExceeded');
  expect(given.status?.conditions?.find(({ type }) => type === 'Applied')?.message).toContain('gateway-1');
  expect(looks).toBeLessThan(20);
  await replica.report('take');
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  await replica.report('take');
  expect(reasons(await waitForCondition(platform, 'chat', 'Ready', 'True'))?.[0]).toBe('Applied');
});
