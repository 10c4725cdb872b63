import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { ensureObject } from '#kube/apply/ensure-object';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type {
  ConfigMap,
  Deployment,
  Event,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
} from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { listAll } from '#kube/client/list-all';
import { apiVersionOf } from '#kube/client/resource-path';
import { createEventRecorder } from '#kube/events/event-recorder';
import { samplePolicy } from '#kube/testing/sample-resources';
import { startReflector } from '#kube/watch/reflector';
import { type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { missingApiServer, onApiServer, openApiServer } from './open-api-server.ts';
import { useApiServer } from './shared-api-server.ts';

const labels = { 'app.kubernetes.io/name': 'portcullis-runtime', 'portcullis.dev/workload': 'g-1' };
const selector = { matchLabels: { 'portcullis.dev/workload': 'g-1' } };

function container(cpu: string) {
  return {
    name: 'runtime',
    image: 'registry/portcullis@sha256:0',
    command: ['node', 'runtime/main.ts'],
    env: [
      { name: 'PORTCULLIS_LISTEN', value: '0.0.0.0:8000' },
      { name: 'EMPTY', value: '' },
    ],
    ports: [{ name: 'http', containerPort: 8_000 }],
    resources: { requests: { cpu, memory: '0.25Gi' }, limits: { cpu: '2000m', memory: '1024Mi' } },
    readinessProbe: { httpGet: { path: '/readyz', port: 'http' }, periodSeconds: 2 },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
    volumeMounts: [{ name: 'bundle', mountPath: '/bundle', readOnly: true }],
  };
}

function deployment(replicas: number, cpu = '0.5'): Deployment['spec'] {
  return {
    replicas,
    selector,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: '25%' } },
    template: {
      metadata: { labels },
      spec: {
        automountServiceAccountToken: false,
        tolerations: [],
        nodeSelector: { disk: 'fast' },
        containers: [container(cpu)],
        volumes: [
          { name: 'bundle', configMap: { name: 'bundle' } },
          { name: 'scratch', emptyDir: { sizeLimit: '1024Ki' } },
        ],
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'kubernetes.io/hostname',
            whenUnsatisfiable: 'ScheduleAnyway',
            labelSelector: selector,
          },
        ],
      },
    },
  };
}

const service: Service['spec'] = { selector: labels, ports: [{ name: 'http', port: 8_000, targetPort: 'http' }] };
const budget: PodDisruptionBudget['spec'] = { selector, maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' };
const closed: NetworkPolicy['spec'] = {
  podSelector: selector,
  policyTypes: ['Ingress', 'Egress'],
  ingress: [
    {
      from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'portcullis' } } }],
      ports: [{ port: 8_000, protocol: 'TCP' }],
    },
  ],
  egress: [],
};

const made: readonly [string, Kind, object][] = [
  ['a Deployment', builtinKinds.deployment, { spec: deployment(1) }],
  ['a Service', builtinKinds.service, { spec: service }],
  ['a PodDisruptionBudget', builtinKinds.podDisruptionBudget, { spec: budget }],
  ['a NetworkPolicy', builtinKinds.networkPolicy, { spec: closed }],
  ['a ConfigMap', builtinKinds.configMap, { data: { 'bundle.json': '{}' }, immutable: true }],
];

describe.skipIf(missingApiServer !== undefined)(onApiServer('built-in kinds of the API server'), () => {
  const server = useApiServer(openApiServer);

  async function openOwner(client: KubeClient) {
    const owner = await client.create(kinds.guardrailPolicy, samplePolicy('owner'));
    const { apiVersion, kind, metadata } = owner;
    return [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }];
  }

  test.each(made)('the client creates %s once and needs no second write', async (_name, kind, content) => {
    const writes: string[] = [];
    const client = await server.client({
      onRequest: ({ method }) => void (method === 'GET' ? undefined : writes.push(method)),
    });
    const ownerReferences = await openOwner(client);
    const desired = {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { name: 'g-1', labels, ownerReferences },
      ...content,
    };
    writes.length = 0;
    const first = await ensureObject<KubeObject>(client, kind, desired);
    expect(first).toMatchObject({ action: 'created', notKept: [] });
    const second = await ensureObject<KubeObject>(client, kind, desired);
    expect(second).toMatchObject({ action: 'unchanged', notKept: [] });
    expect(second.object).toEqual(first.object);
    expect(writes).toEqual(['POST']);
    const { items } = await listAll<KubeObject>(client, kind, { labelSelector: 'portcullis.dev/workload=g-1' });
    expect(items).toEqual([first.object]);
    await client.delete(kind, 'g-1', { uid: first.object.metadata.uid });
    expect(await client.get(kind, 'g-1')).toBeUndefined();
  });

  test('a changed number of replicas or changed container resources are written to a Deployment', async () => {
    const client = await server.client();
    const ownerReferences = await openOwner(client);
    const desired = (spec: Deployment['spec']): Deployment => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'g-1', labels, ownerReferences },
      spec,
    });
    await ensureObject(client, builtinKinds.deployment, desired(deployment(1)));
    const { action, object, notKept } = await ensureObject(
      client,
      builtinKinds.deployment,
      desired(deployment(3, '750m')),
    );
    expect({ action, notKept }).toEqual({ action: 'configured', notKept: [] });
    expect(object.spec.replicas).toBe(3);
    expect(object.metadata.generation).toBe(2);
    expect(object.spec.template.spec.containers[0]).toMatchObject({ resources: { requests: { cpu: '750m' } } });
  });

  test('a list and a watch of the API server return equal objects, selected by label and by name', async () => {
    const client = await server.client();
    const seen: Stored<ConfigMap>[] = [];
    const map = (name: string): ConfigMap => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels: { follow: 'yes' } },
      data: { name },
    });
    const before = await client.create<ConfigMap>(builtinKinds.configMap, map('before'));
    await client.create<ConfigMap>(builtinKinds.configMap, map('other'));
    const reflector = startReflector<ConfigMap>({
      client,
      kind: builtinKinds.configMap,
      labelSelector: 'follow=yes',
      fieldSelector: 'metadata.name!=other',
      logger: { info() {}, warn() {} },
      onChange: (_name, current) => void (current === undefined ? undefined : seen.push(current)),
    });
    onTestFinished(() => reflector[Symbol.asyncDispose]());
    await reflector.synced;
    const after = await client.create<ConfigMap>(builtinKinds.configMap, map('after'));
    await until('the watch reports the change', () => seen.length === 2);
    expect(seen).toEqual([before, after]);
    expect(seen.map(({ kind, apiVersion, metadata }) => [apiVersion, kind, metadata.generation])).toEqual([
      ['v1', 'ConfigMap', 0],
      ['v1', 'ConfigMap', 0],
    ]);
  });

  test('the API server accepts events and their series', async () => {
    const client = await server.client();
    const regarding = await client.create(kinds.guardrailPolicy, samplePolicy('noted'));
    await using recorder = createEventRecorder({
      client,
      controller: 'portcullis.dev/operator',
      instance: 'operator-0',
      logger: { warn() {} },
    });
    const fact = { regarding, type: 'Warning', reason: 'WorkloadUnavailable', action: 'Starting', note: 'x' } as const;
    const written = (count: number) => until(`${count} writes`, () => recorder.counts().written === count);
    recorder.record({ ...fact, note: 'x'.repeat(1_025) });
    recorder.record(fact);
    await written(2);
    recorder.record(fact);
    await written(3);
    expect(recorder.counts()).toEqual({ written: 3, limited: 0, failed: 0 });
    const { items } = await listAll<Event>(client, builtinKinds.event);
    const series = items.find((event) => event.note === 'x')?.series;
    expect(items).toHaveLength(2);
    expect(series).toEqual({ count: 2, lastObservedTime: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/) });
    expect(await server.kubectl('--namespace', client.namespace, 'events', '--for', 'guardrailpolicy/noted')).toContain(
      'WorkloadUnavailable',
    );
  });
});
