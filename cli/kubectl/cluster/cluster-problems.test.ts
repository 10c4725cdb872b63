import { expect, test } from 'vitest';
import type { CoreEvent, Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import { clusterProblems } from './cluster-problems.ts';

function podOf(ready: boolean): Stored<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'gateway-a', labels: { 'app.kubernetes.io/component': 'gateway' } },
    status: {
      containerStatuses: [
        { name: 'gateway', ready, restartCount: 0, state: { running: { startedAt: '2026-01-01T10:00:00Z' } } },
      ],
    },
  } as unknown as Stored<Pod>;
}

function event(message: string, at: string, name = 'gateway-a'): CoreEvent {
  const involvedObject = { kind: 'Pod', name };
  return { involvedObject, type: 'Warning', reason: 'Unhealthy', message, lastTimestamp: at } as unknown as CoreEvent;
}

function reasonsOf(pod: Stored<Pod>, ...events: readonly CoreEvent[]): readonly string[] {
  const objects = { pods: [pod], deployments: [], statefulSets: [], claims: [], events };
  return clusterProblems(objects).map(({ reason, message }) => `${reason}: ${message}`);
}

const failed = 'Liveness probe failed: context deadline exceeded';
const after = '2026-01-01T10:05:00Z';

test('a pod whose liveness probe fails is reported as not answering', () => {
  expect(reasonsOf(podOf(false), event(failed, after))).toEqual([
    'PodNotAnswering: It is not answering: its liveness probe fails, and requests to it hang.',
  ]);
});

const unready = 'Readiness probe failed: HTTP probe failed with statuscode: 503';
const starts = 'PodStarting: It is not ready yet.';
test.each([
  ['that is ready again', podOf(true), event(failed, after), []],
  ['that was restarted since', podOf(false), event(failed, '2026-01-01T09:59:00Z'), [starts]],
  ['whose readiness probe fails', podOf(false), event(unready, after), [`PodNotReady: It is not ready: ${unready}.`]],
  ['whose readiness probe failed before its start', podOf(false), event(unready, '2026-01-01T09:59:00Z'), [starts]],
  ['beside a frozen one', podOf(false), event(failed, after, 'gateway-b'), [starts]],
])('a pod %s is not reported as not answering', (_what, pod, found, expected) => {
  expect(reasonsOf(pod, found)).toEqual(expected);
});

function podIn(component: string, state: object, lastState: object = {}): Stored<Pod> {
  const labels = { 'app.kubernetes.io/component': component };
  const container = { name: 'main', ready: false, restartCount: 0, state, lastState };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${component}-0`, labels },
    status: { containerStatuses: [container] },
  } as unknown as Stored<Pod>;
}
const running = { running: { startedAt: '2026-01-01T10:00:00Z' } };
const killed = { terminated: { exitCode: 137, reason: 'OOMKilled' } };

test.each([
  [
    'is being created',
    podIn('memory', { waiting: { reason: 'ContainerCreating' } }),
    'PodStarting',
    /ContainerCreating/,
  ],
  ['has ended', podIn('retrieval', killed), 'ContainerCrashes', /main ended with exit code 137 \(OOMKilled\)/],
  [
    'is restarted again and again',
    podIn(
      'retrieval',
      { waiting: { reason: 'CrashLoopBackOff' } },
      { terminated: { exitCode: 1, message: 'no disk\n' } },
    ),
    'ContainerCrashes',
    /main ended with exit code 1: no disk\.$/,
  ],
  ['runs again and is not ready', podIn('worker', running, killed), 'PodNotReady', /before, the container .*OOMKilled/],
])('a pod whose container %s is reported with that cause', (_what, pod, reason, cause) => {
  const found = clusterProblems({ pods: [pod], deployments: [], statefulSets: [], claims: [], events: [] });
  expect(found).toMatchObject([{ reason, message: expect.stringMatching(cause) }]);
});

test('pods of each service are reported, the database first and pods that start last', () => {
  const components = [
    'gateway',
    'memory-worker',
    'memory',
    'worker',
    'retrieval',
    'management',
    'operator',
    'postgres',
  ];
  const pods = [
    podIn('operator', { waiting: { reason: 'ContainerCreating' } }),
    ...components.filter((one) => one !== 'operator').map((one) => podIn(one, running, killed)),
  ];
  const found = clusterProblems({ pods, deployments: [], statefulSets: [], claims: [], events: [] });
  expect(found.map(({ part }) => part)).toEqual([
    'Database pod postgres-0',
    'Pod management-0',
    'Pod retrieval-0',
    'Pod worker-0',
    'Pod memory-0',
    'Pod memory-worker-0',
    'Pod gateway-0',
    'Pod operator-0',
  ]);
});

test('a pod of a workload is not a problem of the cluster: the operator writes the condition of its workload', () => {
  expect(reasonsOf(podIn('runtime', running, killed))).toEqual([]);
});
