import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { systemClock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import { createClient, type KubeClient } from '#kube/client/client';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import { until } from '../../../../../e2e/support/until.ts';
import { workloadTemplateSchema } from '../../../../environment/workload-template.ts';
import { createReconcileMeter } from '../../../../reconcile/reconcile-metrics.ts';
import type { WorkloadRequest } from '../../../ports.ts';
import { workloadLabel } from '../../../resources/workload-labels.ts';
import type { WorkloadsPlace } from '../../../testing/workloads-suite.ts';
import { createDeployments, type Deployments } from '../deployments.ts';

export const testTemplate = workloadTemplateSchema.parse({ image: 'portcullis:1', tokenSecret: 'token' });

/** The objects of workloads on a small API server; the test plays kubelet and controller manager. */
export type ClusterPlace = WorkloadsPlace & {
  readonly workloads: Deployments;
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  /** Writes so far, `METHOD path`. */
  writes(): readonly string[];
};

const quiet = { write: () => undefined };

export async function openClusterPlace(): Promise<ClusterPlace> {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const logger = createLogger({ service: 'test', level: 'error', destination: quiet });

  function create(): Deployments {
    const meter = createReconcileMeter(createMetrics({ service: 'test' }));
    return createDeployments({ client, template: testTemplate, clock: systemClock, logger, meter });
  }

  let workloads = create();
  await workloads.synced;

  function setReady(name: string, ready: number): void {
    server.change('deployments', name, (object) => {
      object['status'] = { observedGeneration: 1, readyReplicas: ready };
    });
  }

  function replicasOf(name: string): number | undefined {
    const spec = server.object('deployments', name)?.['spec'] as { readonly replicas: number } | undefined;
    return server.object('services', name) === undefined ? undefined : spec?.replicas;
  }

  return {
    get workloads() {
      return workloads;
    },
    server,
    client,
    writes: () => server.seen.filter((line) => !line.startsWith('GET')),
    async request(name, change = {}): Promise<WorkloadRequest> {
      const identity = { name, digest: 'ab'.repeat(32), build: 'portcullis:1' };
      const manifest = workloads.render({ ...identity, providers: [] });
      return { ...identity, uid: `uid-of-${name}`, manifest, replicas: 1, addresses: [], ...change };
    },
    async becomeReady(name) {
      await until(`${name} is deployed`, () => replicasOf(name));
      await until('no request is under way', () => isQuiet(server));
      setReady(name, replicasOf(name) ?? 0);
    },
    async failOne(name) {
      const terminated = { exitCode: 1, message: 'the rule secret does not compile' };
      const status = {
        phase: 'Running' as const,
        containerStatuses: [{ name: 'runtime', ready: false, restartCount: 1, lastState: { terminated } }],
      };
      const metadata = { name: `${name}-pod`, labels: { [workloadLabel]: name } };
      await client.create<Pod>(builtinKinds.pod, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata,
        spec: { containers: [] },
        status,
      });
      setReady(name, 0);
    },
    async succeed() {
      await workloads[Symbol.asyncDispose]();
      workloads = create();
      await workloads.synced;
      return workloads;
    },
    async [Symbol.asyncDispose]() {
      await workloads[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Whether the number of requests does not grow any more. */
async function isQuiet(server: FakeApiServer): Promise<boolean> {
  const before = server.seen.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  return server.seen.length === before;
}
