import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { systemClock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import { createClient } from '#kube/client/client';
import { startFakeApiServer } from '#kube/testing/fake-api-server';
import { describeGatewayReplicas } from '../../testing/gateway-replicas-suite.ts';
import { createGatewayPods, isPodRunning } from './gateway-pods.ts';

const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });
const labels = { 'app.kubernetes.io/component': 'gateway', 'portcullis.dev/gateway': 'default' };
const running: Pod['status'] = {
  phase: 'Running',
  podIP: '127.0.0.1',
  containerStatuses: [{ name: 'gateway', ready: true, restartCount: 0, state: { running: {} } }],
};

describeGatewayReplicas('pods', async () => {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const replicas = createGatewayPods({ client, clock: systemClock, logger });
  await replicas.synced;
  return {
    replicas,
    async start(name) {
      const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec: { containers: [] } };
      await client.create<Pod>(builtinKinds.pod, { ...pod, status: running ?? {} });
    },
    async end(name) {
      server.remove('pods', name);
    },
    async [Symbol.asyncDispose]() {
      await replicas[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
});

const statusOf = (state: object, phase: 'Running' | 'Pending' = 'Running'): Pod['status'] => ({
  phase,
  containerStatuses: [{ name: 'gateway', ready: false, restartCount: 1, state }],
});

test.each<readonly [string, Pod['status'], boolean]>([
  ['a container that runs', running, true],
  ['a pod that is not ready, or is terminating', statusOf({ running: {} }), true],
  ['a pod that waits for its restart', statusOf({ waiting: { reason: 'CrashLoopBackOff' } }), false],
  ['a pod that has ended', statusOf({ terminated: { exitCode: 0 } }), false],
  ['a pod that is starting', statusOf({ waiting: { reason: 'ContainerCreating' } }, 'Pending'), false],
  ['a pod that has failed', { phase: 'Failed' }, false],
  ['a pod without a status', undefined, false],
])('the liveness of a gateway replica is derived from %s', (_name, status, expected) =>
  expect(isPodRunning(status === undefined ? {} : { status })).toBe(expected),
);
