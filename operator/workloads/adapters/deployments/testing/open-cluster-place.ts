import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { EndpointSlice, Pod } from '#kube/client/builtin-types';
import { createClient, type KubeClient } from '#kube/client/client';
import type { EventFact } from '#kube/events/event-recorder';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import type { Stored } from '#resources/metadata';
import { workloadTemplateSchema } from '../../../../environment/workload-template.ts';
import { createReconcileMeter } from '../../../../reconcile/reconcile-metrics.ts';
import type { WorkloadRequest } from '../../../ports.ts';
import { workloadLabel } from '../../../resources/workload-labels.ts';
import type { WorkloadsPlace } from '../../../testing/workloads-suite.ts';
import { createDeployments, type Deployments } from '../deployments.ts';

const testTemplate = workloadTemplateSchema.parse({ image: 'portcullis:1', tokenSecret: 'token' });

/** The objects of workloads on a small API server; the test plays kubelet and controller manager. */
export type ClusterPlace = WorkloadsPlace & {
  readonly workloads: Deployments;
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  /** The writes of the operator up to now, as `METHOD path`. */
  writes(): readonly string[];
  readonly events: readonly Omit<EventFact, 'regarding'>[];
  /** A pod with the label of the workload that belongs to a ReplicaSet of that name. */
  makePod(workload: string, pod: string, owner?: string): Promise<Stored<Pod>>;
  /** Makes the Service send its requests to these pods. */
  setEndpoints(workload: string, pods: readonly Stored<Pod>[]): Promise<void>;
};

const quiet = { write: () => undefined };

export async function openClusterPlace(): Promise<ClusterPlace> {
  const server = await startFakeApiServer();
  const client = createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' });
  const logger = createLogger({ service: 'test', level: 'error', destination: quiet });

  const events: Omit<EventFact, 'regarding'>[] = [];
  function create(): Deployments {
    const meter = createReconcileMeter(createMetrics({ service: 'test' }));
    const recorder = { record: ({ regarding: _, ...event }: EventFact) => void events.push(event) };
    return createDeployments({ client, template: testTemplate, clock: systemClock, logger, meter, events: recorder });
  }

  let workloads = create();
  await workloads.synced;

  /** Acts as ReplicaSet controller, kubelet and endpoint controller: makes this many pods ready to receive requests. */
  async function setReady(name: string, ready: number): Promise<void> {
    const pods: Stored<Pod>[] = [];
    for (let index = 0; index < ready; index += 1) pods.push(await makePod(name, `${name}-pod-${index}`));
    await setEndpoints(name, pods);
    server.change('deployments', name, (object) => {
      object['status'] = { observedGeneration: 1, readyReplicas: ready };
    });
  }

  async function makePod(workload: string, pod: string, owner = `${workload}-5d8f`): Promise<Stored<Pod>> {
    const known = await client.get<Pod>(builtinKinds.pod, pod);
    if (known !== undefined) return known;
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true }];
    const metadata = { name: pod, labels: { [workloadLabel]: workload }, ownerReferences };
    const status = { phase: 'Running' as const };
    return client.create<Pod>(builtinKinds.pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers: [] },
      status,
    });
  }

  async function setEndpoints(workload: string, pods: readonly Stored<Pod>[]): Promise<void> {
    const name = `${workload}-slice`;
    const endpoints = pods.map(({ metadata }) => ({
      addresses: ['10.0.0.1'],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name: metadata.name, uid: metadata.uid },
    }));
    if (server.object('endpointslices', name) === undefined) {
      const metadata = { name, labels: { [workloadLabel]: workload } };
      const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, addressType: 'IPv4' };
      await client.create<EndpointSlice>(builtinKinds.endpointSlice, slice);
    }
    server.change('endpointslices', name, (object) => Object.assign(object, { endpoints }));
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
    writes: () => server.seen.filter((line) => !line.startsWith('GET') && !/\/(pods|endpointslices)\b/.test(line)),
    events,
    makePod,
    setEndpoints,
    async request(name, change = {}): Promise<WorkloadRequest> {
      const identity = { name, digest: 'ab'.repeat(32), build: 'portcullis:1' };
      const manifest = workloads.render({ ...identity, providers: [] });
      return { ...identity, uid: `uid-of-${name}`, manifest, replicas: 1, addresses: [], ...change };
    },
    async becomeReady(name) {
      await until(`${name} is deployed`, () => replicasOf(name));
      await until('no request is in flight', () => isQuiet(server));
      await setReady(name, replicasOf(name) ?? 0);
    },
    async failOne(name) {
      const terminated = { exitCode: 1, message: 'the rule secret does not compile' };
      const containerStatuses = [{ name: 'runtime', ready: false, restartCount: 1, lastState: { terminated } }];
      const pod = await makePod(name, `${name}-pod-0`);
      server.change('pods', pod.metadata.name, (object) => {
        object['status'] = { phase: 'Running', containerStatuses };
      });
      await setReady(name, 0);
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

/** Whether the number of API requests has stopped growing. */
async function isQuiet(server: FakeApiServer): Promise<boolean> {
  const before = server.seen.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  return server.seen.length === before;
}
