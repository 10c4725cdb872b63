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

test.each([
  ['that is ready again', podOf(true), event(failed, after)],
  ['that was restarted since', podOf(false), event(failed, '2026-01-01T09:59:00Z')],
  ['whose readiness probe fails', podOf(false), event('Readiness probe failed: HTTP probe failed', after)],
  ['beside a frozen one', podOf(false), event(failed, after, 'gateway-b')],
])('a pod %s is not reported as not answering', (_what, pod, found) => {
  expect(reasonsOf(pod, found)).toEqual([]);
});
