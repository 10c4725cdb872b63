import { describe, expect, test } from 'vitest';
import type { ContainerStatus, Pod } from '#kube/client/builtin-types';
import type { WorkloadProblemReason } from '../ports.ts';
import { describePodProblem } from './describe-pod-problem.ts';

type PodStatus = NonNullable<Pod['status']>;

function pod(status: PodStatus, metadata: Partial<Pod['metadata']> = {}): Pick<Pod, 'metadata' | 'status'> {
  return { metadata: { name: 'g-1-a', ...metadata }, status };
}

function container(change: Partial<ContainerStatus>): PodStatus {
  return { phase: 'Running', containerStatuses: [{ name: 'runtime', ready: false, restartCount: 0, ...change }] };
}

const pulling = (reason: string, message?: string): PodStatus =>
  container({ state: { waiting: { reason, ...(message === undefined ? {} : { message }) } } });
const ended = (change: object): NonNullable<ContainerStatus['state']> => ({ terminated: { exitCode: 1, ...change } });

describe('explaining a pod that is not ready', () => {
  test.each<readonly [string, PodStatus, WorkloadProblemReason, string]>([
    [
      'a pod that ended is explained by its termination message while it runs again',
      container({ state: { running: {} }, lastState: ended({ message: 'the rule secret does not compile\n' }) }),
      'ProcessEnded',
      'the rule secret does not compile',
    ],
    [
      'a pod that ended is explained by its termination message while it waits for a restart',
      container({
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
        lastState: ended({ message: 'the rule secret does not compile\n' }),
      }),
      'ProcessEnded',
      'the rule secret does not compile',
    ],
    [
      'a pod without a termination message is explained by its exit code',
      container({ state: ended({ exitCode: 2, reason: 'Error' }) }),
      'ProcessEnded',
      'ended with code 2',
    ],
    [
      'a pod over its memory limit is explained by OOMKilled',
      container({ state: ended({ exitCode: 137, reason: 'OOMKilled' }) }),
      'ProcessEnded',
      'killed because it exceeded its memory limit (OOMKilled)',
    ],
    [
      'a failed pull is explained by its error',
      pulling('ErrImagePull', 'not found'),
      'ImagePullFailed',
      'the image cannot be pulled: not found',
    ],
    [
      'a failed pull is explained in the same words during the backoff',
      pulling('ImagePullBackOff', 'Back-off pulling image "x:1": ErrImagePull: not found'),
      'ImagePullFailed',
      'the image cannot be pulled: not found',
    ],
    [
      'a failed pull without an error is explained by the pull alone',
      pulling('ImagePullBackOff', 'Back-off pulling image "x:1"'),
      'ImagePullFailed',
      'the image cannot be pulled',
    ],
    [
      'a missing Secret is named',
      pulling('CreateContainerConfigError', 'secret "t" not found'),
      'ContainerNotStarted',
      'a container does not start (CreateContainerConfigError): secret "t" not found',
    ],
    [
      'a pending pod is explained by the scheduler, not as a process that ended',
      {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes fit' }],
      },
      'Unschedulable',
      'a pod is pending because no node accepts it: 0/1 nodes fit',
    ],
    [
      'an evicted pod is explained by its eviction',
      { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' },
      'ProcessEnded',
      'a pod failed: the node was low on memory',
    ],
  ])('the problem of a pod: %s', (_name, status, reason, message) => {
    expect(describePodProblem(undefined, [pod(status)])).toEqual({ reason, message });
  });
});

describe('no problem is reported', () => {
  test.each<readonly [string, PodStatus]>([
    ['for a pod that is starting', pulling('ContainerCreating')],
    ['for a pod without conditions', { phase: 'Pending' }],
    [
      'for a pod that is ready again',
      container({ ready: true, state: { running: {} }, lastState: ended({ message: 'x' }) }),
    ],
    ['for a pod whose probe has not succeeded yet', container({ state: { running: {} } })],
  ])('no problem of a workload is reported %s', (_name, status) =>
    expect(describePodProblem(undefined, [pod(status)])).toBeUndefined(),
  );

  test('no problem is reported for a pod under deletion', () => {
    const leaving = pod(container({ state: ended({ message: 'x' }) }), { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(describePodProblem(undefined, [leaving])).toBeUndefined();
  });
});

test('an exceeded quota is reported before other problems, in a sentence that does not contain the name of the pod', () => {
  const refused = (suffix: string) => ({
    status: {
      conditions: [
        {
          type: 'ReplicaFailure',
          status: 'True' as const,
          message: `pods "g-0123456789abcdef0123-7d9f-${suffix}" is forbidden: exceeded quota: pods`,
        },
      ],
    },
  });
  const said = describePodProblem(refused('a1b2c'), [pod(pulling('ErrImagePull'))]);
  expect(said).toEqual({
    reason: 'PodsForbidden',
    message: 'pods cannot be created: pods is forbidden: exceeded quota: pods',
  });
  expect(describePodProblem(refused('x9y8z'), [])).toEqual(said);
});

test('of several pods with problems the first by name is reported, with at most 600 characters', () => {
  const one = pod(container({ state: ended({ message: 'first' }) }), { name: 'a' });
  const two = pod(container({ state: ended({ message: 'second' }) }), { name: 'b' });
  expect(describePodProblem(undefined, [two, one])?.message).toBe('first');
  const long = (length: number) =>
    describePodProblem(undefined, [pod(container({ state: ended({ message: 'x'.repeat(length) }) }))])?.message;
  expect(long(600)).toHaveLength(600);
  expect(long(601)).toHaveLength(600);
});
