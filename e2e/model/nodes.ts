import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Deployment, Pod } from '#kube/client/builtin-types';
import type { KubeObject } from '#kube/client/kube-object';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { workloadLabels } from '../../operator/workloads/resources/workload-labels.ts';
import type { MemoryApi } from './memory-api.ts';
import { modelNamespace } from './memory-api.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Simulates controllers and nodes of a cluster: pods of Deployments become ready, and gateways have pods. */
export type Nodes = {
  /** Whether processes of a workload answer. */
  serves(workload: string): boolean;
  /** Makes the processes of all workloads unready for a period. */
  crashPods(forMs: number): void;
  setGatewayPod(name: string, isRunning: boolean): void;
  /** Longest start time of a pod in milliseconds. */
  startWithinMs: number;
};

export function createNodes(time: VirtualTime, api: MemoryApi): Nodes {
  const { clock, random } = time;
  let crashedUntil = 0;

  function deployment(name: string): Stored<Deployment> | undefined {
    return api.get(builtinKinds.deployment, name) as Stored<Deployment> | undefined;
  }

  /** Sets the pods of a Deployment, and the endpoints of its Service. */
  function setEndpoints({ metadata: { name, uid } }: Stored<Deployment>, ready: number): void {
    const stem = `${name}-${uid.slice(0, 8)}`;
    const labels = { ...workloadLabels(name, {}) };
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-1`, uid, controller: true };
    const made = <O extends KubeObject>(kind: Kind, object: O) =>
      api.get(kind, object.metadata.name) ?? api.write('nodes', { verb: 'create', kind, object });
    const endpoints = Array.from({ length: ready }, (_, index) => {
      const metadata = { name: `${stem}-${index}`, namespace: modelNamespace, labels, ownerReferences: [owner] };
      const pod = made(builtinKinds.pod, { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } });
      return { addresses: ['10.0.0.1'], targetRef: { kind: 'Pod', uid: pod?.metadata.uid } };
    });
    const metadata = { name: stem, namespace: modelNamespace, labels, ownerReferences: [owner] };
    const kind = builtinKinds.endpointSlice;
    made(kind, { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata });
    const operations = [{ op: 'add', path: '/endpoints', value: endpoints }];
    api.write('nodes', { verb: 'patch', kind, name: stem, operations });
  }

  function report(name: string): void {
    const found = deployment(name);
    if (found === undefined) return;
    if (clock.now() < crashedUntil) return void time.schedule(crashedUntil - clock.now() + 1, () => report(name));
    setReady(name, found.spec.replicas ?? 1);
  }

  function setReady(name: string, readyReplicas: number): void {
    const found = deployment(name);
    if (found === undefined) return;
    setEndpoints(found, readyReplicas);
    const observedGeneration = found.metadata.generation;
    const value = { ...found.status, observedGeneration, replicas: found.spec.replicas, readyReplicas };
    const operations = [{ op: 'add', path: '/status', value }];
    api.write('nodes', { verb: 'patchStatus', kind: builtinKinds.deployment, name, operations });
  }

  const nodes: Nodes = {
    startWithinMs: 1_500,
    serves: (workload) =>
      (deployment(workload)?.status?.readyReplicas ?? 0) > 0 && api.get(builtinKinds.service, workload) !== undefined,
    crashPods(forMs) {
      crashedUntil = Math.max(crashedUntil, clock.now() + forMs);
      for (const { metadata } of api.list(builtinKinds.deployment).items) {
        setReady(metadata.name, 0);
        time.schedule(forMs + 1 + random() * 500, () => report(metadata.name));
      }
    },
    setGatewayPod(name, isRunning) {
      const held = api.get(builtinKinds.pod, name);
      const state = isRunning ? { running: {} } : { terminated: { exitCode: 137 } };
      const containerStatuses = [
        { name: 'gateway', ready: isRunning, restartCount: 0, image: 'x', imageID: '', state },
      ];
      if (held === undefined) {
        const labels = { 'app.kubernetes.io/component': 'gateway', 'portcullis.dev/gateway': 'default' };
        const spec = { containers: [{ name: 'gateway', image: 'x' }] };
        const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: modelNamespace, labels }, spec };
        api.write('nodes', { verb: 'create', kind: builtinKinds.pod, object: pod });
      }
      const operations = [{ op: 'add', path: '/status', value: { phase: 'Running', containerStatuses } }];
      api.write('nodes', { verb: 'patchStatus', kind: builtinKinds.pod, name, operations });
    },
  };
  api.onChange(({ kind, writer, before, after }) => {
    if (kind.kind !== builtinKinds.deployment.kind || writer === 'nodes' || after === undefined) return;
    const { name } = after.metadata;
    if (before?.metadata.generation === after.metadata.generation) return;
    time.schedule(30 + random() * nodes.startWithinMs, () => report(name));
  });
  return nodes;
}
