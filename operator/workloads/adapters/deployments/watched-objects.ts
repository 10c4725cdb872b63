import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type {
  Deployment,
  EndpointSlice,
  NetworkPolicy,
  Pod,
  PodDisruptionBudget,
  Service,
} from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { allSynced } from '#kube/watch/all-synced';
import { type Reflector, startReflector } from '#kube/watch/reflector';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { workloadLabel, workloadsSelector } from '../../resources/workload-labels.ts';
import { workloadKinds } from './desired-objects.ts';

/** The objects of all workloads, as watches report them. */
type WatchedObjects = AsyncDisposable & {
  deployment(workload: string): Stored<Deployment> | undefined;
  service(workload: string): Stored<Service> | undefined;
  /** Pods with the label of the workload, including pods of other owners. */
  pods(workload: string): readonly Stored<Pod>[];
  endpointSlices(workload: string): readonly Stored<EndpointSlice>[];
  /** Returns the object of the given kind that belongs to a workload. */
  object(kind: Kind, workload: string): Stored<KubeObject> | undefined;
  /** Resolves when all of them were listed. */
  readonly synced: Promise<void>;
  /** Milliseconds since the least recent contact of a watch with the API server. */
  silenceMs(): number;
};

export function watchClusterObjects(options: {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called with the workload of an object that changed, and whether the object was deleted. */
  readonly onChange: (workload: string, isDeleted: boolean) => void;
}): WatchedObjects {
  const { clock, onChange, ...rest } = options;
  const byWorkload = ({ metadata }: KubeObject): string[] => {
    const workload = metadata.labels?.[workloadLabel];
    return workload === undefined ? [] : [workload];
  };
  const start = <R extends KubeObject>(
    kind: Kind,
    transform?: (object: Stored<R>) => Stored<R>,
    labelSelector = workloadsSelector,
  ): Reflector<R> =>
    startReflector<R>({
      ...rest,
      clock,
      kind,
      labelSelector,
      indexes: { workload: byWorkload },
      ...(transform === undefined ? {} : { transform }),
      onChange(_name, current, previous) {
        for (const name of new Set([current, previous].flatMap((one) => (one === undefined ? [] : byWorkload(one))))) {
          onChange(name, current === undefined);
        }
      },
    });
  const deployments = start<Deployment>(builtinKinds.deployment);
  const services = start<Service>(builtinKinds.service);
  // A Service selects pods by this label alone, so every pod with it may become an endpoint.
  const pods = start<Pod>(builtinKinds.pod, withoutSpec, workloadLabel);
  const endpointSlices = start<EndpointSlice>(builtinKinds.endpointSlice);
  const byKind = new Map<Kind, Reflector<KubeObject>>([
    [builtinKinds.deployment, deployments as Reflector<KubeObject>],
    [builtinKinds.service, services as Reflector<KubeObject>],
    [builtinKinds.podDisruptionBudget, start<PodDisruptionBudget>(builtinKinds.podDisruptionBudget)],
    [builtinKinds.networkPolicy, start<NetworkPolicy>(builtinKinds.networkPolicy)],
  ]);
  const all = [pods, endpointSlices, ...byKind.values()];

  return {
    deployment: (workload) => deployments.store.get(workload),
    service: (workload) => services.store.get(workload),
    pods: (workload) => pods.store.by('workload', workload),
    endpointSlices: (workload) => endpointSlices.store.by('workload', workload),
    object(kind, workload) {
      const reflector = byKind.get(kind);
      if (reflector === undefined)
        throw new TypeError(
          `${kind.kind} is not watched; the watched kinds are ${workloadKinds.map((one) => one.kind).join(', ')}`,
        );
      return reflector.store.get(workload);
    },
    synced: allSynced(all),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}

/** Keeps identity, owners and status of a pod: thousands of pods are held in memory. */
function withoutSpec(pod: Stored<Pod>): Stored<Pod> {
  const { name, uid, resourceVersion, generation, creationTimestamp } = pod.metadata;
  const { deletionTimestamp, ownerReferences, labels } = pod.metadata;
  const workload = labels?.[workloadLabel];
  const metadata = { name, uid, resourceVersion, generation, creationTimestamp };
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: {
      ...metadata,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
      ...(workload === undefined ? {} : { labels: { [workloadLabel]: workload } }),
    },
    spec: { containers: [] },
    ...(pod.status === undefined ? {} : { status: pod.status }),
  };
}
