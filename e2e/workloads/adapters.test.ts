import { describe, expect, test } from 'vitest';
import { sha256Hex } from '#contracts/canonical';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Deployment, Pod } from '#kube/client/builtin-types';
import { silentRecorder } from '#kube/events/event-recorder';
import { apiVersion, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { createBundleConfigMaps } from '../../operator/bundles/adapters/config-maps/bundle-config-maps.ts';
import { bundleMapName } from '../../operator/bundles/resources/bundle-config-map.ts';
import { describeBundleStore } from '../../operator/bundles/testing/bundle-store-suite.ts';
import { workloadTemplateSchema } from '../../operator/environment/workload-template.ts';
import { createGatewayPods } from '../../operator/gateways/adapters/pods/gateway-pods.ts';
import { describeGatewayReplicas } from '../../operator/gateways/testing/gateway-replicas-suite.ts';
import { createReconcileMeter } from '../../operator/reconcile/reconcile-metrics.ts';
import { createDeployments, type Deployments } from '../../operator/workloads/adapters/deployments/deployments.ts';
import type { WorkloadRequest } from '../../operator/workloads/ports.ts';
import { describeWorkloads, type WorkloadsPlace } from '../../operator/workloads/testing/workloads-suite.ts';
import { type ApiServer, missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { useApiServer } from '../kube/shared-api-server.ts';
import { openWorkloadNamespace, type WorkloadNamespace } from './open-workload-namespace.ts';

const clock = systemClock;
const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });
const template = workloadTemplateSchema.parse({
  image: 'portcullis:1',
  tokenSecret: 'token',
  providerSecret: 'providers',
  resources: { requests: { cpu: '0.5', memory: '256Mi' }, limits: { memory: '512Mi' } },
});
const detector = { name: 'd', kind: 'detector', endpoint: 'https://detector.example', credential: 'k' } as const;
const build = 'portcullis:1';
const digest = 'ab'.repeat(32);

type RealPlace = WorkloadsPlace & { readonly workloads: Deployments; readonly namespace: WorkloadNamespace };

async function openPlace(server: ApiServer): Promise<RealPlace> {
  const namespace = await openWorkloadNamespace(server);
  const { client } = namespace;
  const uids = new Map<string, string>();
  const replicas = new Map<string, number>();

  async function create(): Promise<Deployments> {
    const meter = createReconcileMeter(createMetrics({ service: 'test' }));
    const created = createDeployments({ client, template, clock, logger, meter, events: silentRecorder });
    await created.synced;
    return created;
  }

  /** Owners must exist: objects with a missing owner are garbage collected. */
  async function ownerOf(name: string, manifest: string): Promise<string> {
    const known = uids.get(name);
    if (known !== undefined) return known;
    const spec = { digest, build, manifest, replicas: 1, state: 'Active' } as const;
    const generation: RuntimeWorkload = { apiVersion, kind: 'RuntimeWorkload', metadata: { name }, spec };
    const stored: Stored<RuntimeWorkload> = await client.create(kinds.runtimeWorkload, generation);
    uids.set(name, stored.metadata.uid);
    return stored.metadata.uid;
  }

  let workloads = await create();
  return {
    namespace,
    get workloads() {
      return workloads;
    },
    async request(name, change = {}): Promise<WorkloadRequest> {
      const manifest = workloads.render({ name, digest, build, providers: [] });
      const uid = await ownerOf(name, manifest);
      replicas.set(name, change.replicas ?? 1);
      return { name, digest, build, uid, manifest, replicas: 1, addresses: [], ...change };
    },
    async becomeReady(name) {
      const wanted = replicas.get(name);
      await until(`${name} is deployed as desired`, async () => {
        const found = await client.get<Deployment>(builtinKinds.deployment, name);
        return found?.spec.replicas === wanted && found?.status?.observedGeneration === found?.metadata.generation;
      });
      await until('the pods exist', async () => (await namespace.setPods(name, true)) === wanted);
    },
    async failOne(name) {
      const terminated = { exitCode: 1, message: 'the rule secret does not compile' };
      await namespace.setPods(name, false, { lastState: { terminated } });
    },
    async succeed() {
      await workloads[Symbol.asyncDispose]();
      workloads = await create();
      return workloads;
    },
    [Symbol.asyncDispose]: () => workloads[Symbol.asyncDispose](),
  };
}

describe.skipIf(missingApiServer !== undefined)(onApiServer('the adapters of a cluster'), () => {
  const server = useApiServer();

  describeWorkloads('an API server', () => openPlace(server));

  describeBundleStore('an API server', async () => {
    const { client } = await openWorkloadNamespace(server);
    const create = () => createBundleConfigMaps({ client, clock, logger });
    let store = create();
    const get = (one: string) => client.get<ConfigMap>(builtinKinds.configMap, bundleMapName(one));
    return {
      get store() {
        return store;
      },
      read: async (one) => (await get(one))?.data?.['bundle.json'],
      async remove(one) {
        const uid = (await get(one))?.metadata.uid ?? '';
        await client.delete(builtinKinds.configMap, bundleMapName(one), { uid });
      },
      async succeed() {
        await store[Symbol.asyncDispose]();
        store = create();
        return store;
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  });

  describeGatewayReplicas('an API server', async () => {
    const { client } = await server.client().then((one) => ({ client: one }));
    const replicas = createGatewayPods({ client, clock, logger });
    await replicas.synced;
    return {
      replicas,
      async start(name) {
        const labels = { 'app.kubernetes.io/component': 'gateway', 'portcullis.dev/gateway': 'default' };
        const spec = { containers: [{ name: 'gateway', image: 'x' }], automountServiceAccountToken: false };
        await until('the account of the namespace is there', async () => {
          await client.create<Pod>(builtinKinds.pod, {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name, labels },
            spec,
          });
          return true;
        });
        const container = { name: 'gateway', ready: true, restartCount: 0, image: 'x', imageID: '' };
        const address = '127.0.0.1';
        const value = {
          phase: 'Running',
          podIP: address,
          podIPs: [{ ip: address }],
          containerStatuses: [{ ...container, state: { running: {} } }],
        };
        await client.patchStatus(builtinKinds.pod, name, [{ op: 'add', path: '/status', value }]);
      },
      async end(name) {
        const pod = await client.get<Pod>(builtinKinds.pod, name);
        await client.delete(builtinKinds.pod, name, { uid: pod?.metadata.uid ?? '' });
      },
      [Symbol.asyncDispose]: () => replicas[Symbol.asyncDispose](),
    };
  });

  test('a restricted namespace accepts the pods of a workload, and the API server changes no rendered member', async () => {
    await using place = await openPlace(server);
    const { workloads, namespace } = place;
    const manifest = workloads.render({ name: 'g-one', digest, build, providers: [detector] });
    workloads.ensure(await place.request('g-one', { manifest, replicas: 3 }));
    await place.becomeReady('g-one');
    await until('all are ready', () => workloads.observe('g-one').ready === 3);
    const all = ['deployment', 'service', 'poddisruptionbudget', 'networkpolicy'].map((kind) => `${kind}/g-one`);
    expect((await namespace.kubectl('get', ...all, '--output=name')).trim().split('\n')).toHaveLength(4);
    const before = namespace.writes();
    expect(before.filter((line) => line.startsWith('create')).map((line) => line.split('/')[0])).toEqual([
      'create runtimeworkloads',
      'create networkpolicies',
      'create services',
      'create deployments',
      'create poddisruptionbudgets',
    ]);
    expect(before.filter((line) => !line.startsWith('create'))).toEqual([]);
    const next = await place.succeed();
    next.ensure(await place.request('g-one', { manifest, replicas: 3 }));
    await until('the next operator reads it', () => next.observe('g-one').ready === 3);
    await place.becomeReady('g-one');
    expect(namespace.writes()).toEqual(before);
  });

  test('a change by another client to an object of a workload is corrected, including added members', async () => {
    await using place = await openPlace(server);
    const { workloads, namespace } = place;
    workloads.ensure(await place.request('g-one'));
    await place.becomeReady('g-one');
    await namespace.kubectl('set', 'image', 'deployment/g-one', 'runtime=other:1');
    await namespace.kubectl('delete', 'networkpolicy', 'g-one');
    const added = { spec: { selector: { app: 'other' }, externalIPs: ['192.0.2.1'] } };
    await namespace.kubectl('patch', 'service', 'g-one', '--type=merge', `--patch=${JSON.stringify(added)}`);
    const nodes = { spec: { template: { spec: { nodeSelector: { disk: 'other' } } } } };
    await namespace.kubectl('patch', 'deployment', 'g-one', '--type=merge', `--patch=${JSON.stringify(nodes)}`);
    await until('the added members are removed', async () => {
      const kept = '--output=jsonpath={.spec.selector}{.spec.externalIPs}{.spec.template.spec.nodeSelector}';
      const service = await namespace.kubectl('get', 'service', 'g-one', kept);
      const deployment = await namespace.kubectl('get', 'deployment', 'g-one', kept);
      return service === '{"portcullis.dev/workload":"g-one"}' && !deployment.includes('disk');
    });
    await until('the image has its desired value again', async () => {
      const image = '--output=jsonpath={.spec.template.spec.containers[0].image}';
      return (await namespace.kubectl('get', 'deployment', 'g-one', image)) === 'portcullis:1';
    });
    await until('the network policy exists again', async () => {
      return (await namespace.kubectl('get', 'networkpolicy', '--output=name')).includes('g-one');
    });
    await namespace.kubectl('rollout', 'restart', 'deployment/g-one');
    const note = '--output=jsonpath={.spec.template.metadata.annotations}';
    expect(await namespace.kubectl('get', 'deployment', 'g-one', note)).toContain('restartedAt');
  });

  test('an exceeded quota is reported as the problem of a workload in a stable sentence', async () => {
    await using place = await openPlace(server);
    const { workloads, namespace } = place;
    await namespace.kubectl('create', 'quota', 'none', '--hard=pods=0');
    await until('the quota counts', async () => {
      return (await namespace.kubectl('get', 'quota', 'none', '--output=jsonpath={.status.hard.pods}')) === '0';
    });
    workloads.ensure(await place.request('g-one'));
    const problem = await until('it is told', () => workloads.observe('g-one').problem);
    expect(problem.reason).toBe('PodsForbidden');
    expect(problem.message).toMatch(/^pods cannot be created: .*exceeded quota: none/);
    expect(problem.message).not.toContain('g-one-');
  });

  test('a missing Secret is reported as the problem of a workload', async () => {
    await using place = await openPlace(server);
    const { workloads, namespace } = place;
    workloads.ensure(await place.request('g-one'));
    await place.becomeReady('g-one');
    const waiting = { reason: 'CreateContainerConfigError', message: 'secret "token" not found' };
    await namespace.setPods('g-one', false, { state: { waiting } });
    await until('it is told', () => workloads.observe('g-one').problem?.message.includes('secret "token" not found'));
  });

  test('the objects of a workload are deleted with its RuntimeWorkload, even without an operator', async () => {
    await using place = await openPlace(server);
    const { workloads, namespace } = place;
    workloads.ensure(await place.request('g-one', { replicas: 2 }));
    await place.becomeReady('g-one');
    await workloads[Symbol.asyncDispose]();
    await namespace.kubectl('delete', 'runtimeworkload', 'g-one');
    await until('nothing is left', async () => {
      const kindsOfIt = 'deployment,service,poddisruptionbudget,networkpolicy';
      return (await namespace.kubectl('get', kindsOfIt, '--output=name')) === '';
    });
  });

  test('a bundle near the size limit is stored, and watches read its metadata only', async () => {
    const { client } = await openWorkloadNamespace(server);
    await using store = createBundleConfigMaps({ client, clock, logger });
    const bytes = Buffer.from(JSON.stringify({ text: 'я'.repeat(340_000) }));
    const one = sha256Hex(bytes);
    (await store.put(one, bytes))[Symbol.dispose]();
    await until('it is known', () => store.has(one));
    const { items } = await client.list(builtinKinds.configMapMetadata);
    expect(items.some(({ metadata }) => metadata.name === bundleMapName(one))).toBe(true);
    expect(JSON.stringify(items).length).toBeLessThan(10_000);
  });
});
