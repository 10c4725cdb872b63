import { describe, expect, test } from 'vitest';
import type { ContainerStatus, Pod } from '#kube/client/builtin-types';
import { describeProblem } from './describe-problem.ts';

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

describe('a pod that does not run says why', () => {
  test.each<readonly [string, PodStatus, string]>([
    [
      'by its termination message, while it runs again',
      container({ state: { running: {} }, lastState: ended({ message: 'the rule secret does not compile\n' }) }),
      'the rule secret does not compile',
    ],
    [
      'by its termination message, while it waits to be started again',
      container({
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
        lastState: ended({ message: 'the rule secret does not compile\n' }),
      }),
      'the rule secret does not compile',
    ],
    ['by its code', container({ state: ended({ exitCode: 2, reason: 'Error' }) }), 'ended with code 2'],
    [
      'by the reason of the system',
      container({ state: ended({ exitCode: 137, reason: 'OOMKilled' }) }),
      'ended by the system: it took more memory than its limit',
    ],
    ['by its image', pulling('ErrImagePull', 'not found'), 'the image cannot be pulled: not found'],
    [
      'by its image, in the same words while the kubelet waits',
      pulling('ImagePullBackOff', 'Back-off pulling image "x:1": ErrImagePull: not found'),
      'the image cannot be pulled: not found',
    ],
    ['by its image alone', pulling('ImagePullBackOff', 'Back-off pulling image "x:1"'), 'the image cannot be pulled'],
    [
      'by a Secret that is missing',
      pulling('CreateContainerConfigError', 'secret "t" not found'),
      'a container does not start (CreateContainerConfigError): secret "t" not found',
    ],
    [
      'by the scheduler',
      {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes fit' }],
      },
      'no node takes a pod: 0/1 nodes fit',
    ],
    [
      'by its eviction',
      { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' },
      'a pod failed: the node was low on memory',
    ],
  ])('%s', (_name, status, sentence) => {
    expect(describeProblem(undefined, [pod(status)])).toBe(sentence);
  });
});

describe('nothing is wrong with', () => {
  test.each<readonly [string, PodStatus]>([
    ['a pod that is starting', pulling('ContainerCreating')],
    ['a pod that is new', { phase: 'Pending' }],
    [
      'a pod that is ready again',
      container({ ready: true, state: { running: {} }, lastState: ended({ message: 'x' }) }),
    ],
    ['a pod that has not answered yet', container({ state: { running: {} } })],
  ])('%s', (_name, status) => expect(describeProblem(undefined, [pod(status)])).toBeUndefined());

  test('a pod that is told to end', () => {
    const leaving = pod(container({ state: ended({ message: 'x' }) }), { deletionTimestamp: '2026-01-01T00:00:00Z' });
    expect(describeProblem(undefined, [leaving])).toBeUndefined();
  });
});

test('a quota is told before anything else, in words that do not change with the name of the pod', () => {
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
  const said = describeProblem(refused('a1b2c'), [pod(pulling('ErrImagePull'))]);
  expect(said).toBe('pods cannot be made: pods is forbidden: exceeded quota: pods');
  expect(describeProblem(refused('x9y8z'), [])).toBe(said);
});

test('of several pods the first by name speaks, and at most 600 characters are shown', () => {
  const one = pod(container({ state: ended({ message: 'first' }) }), { name: 'a' });
  const two = pod(container({ state: ended({ message: 'second' }) }), { name: 'b' });
  expect(describeProblem(undefined, [two, one])).toBe('first');
  const long = (length: number) =>
    describeProblem(undefined, [pod(container({ state: ended({ message: 'x'.repeat(length) }) }))]);
  expect(long(600)).toHaveLength(600);
  expect(long(601)).toHaveLength(600);
});
