import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Deployment, NetworkPolicy, Pod, PodDisruptionBudget, Service } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { type Reflector, startReflector } from '#kube/watch/reflector';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { workloadLabel, workloadsSelector } from '../../resources/workload-labels.ts';
import { workloadKinds } from './desired-objects.ts';

/** What a cluster holds of all workloads, as watches tell. */
export type WatchedObjects = AsyncDisposable & {
  deployment(workload: string): Stored<Deployment> | undefined;
  service(workload: string): Stored<Service> | undefined;
  pods(workload: string): readonly Stored<Pod>[];
  /** The object of one of the kinds of a workload. */
  object(kind: Kind, workload: string): Stored<KubeObject> | undefined;
  /** Resolves when all of them were listed. */
  readonly synced: Promise<void>;
  /** The longest time, in milliseconds, for which a watch has not heard of its server. */
  silenceMs(): number;
};

export function watchObjects(options: {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called with the name of the workload that an object belongs to, and whether the object is gone. */
  readonly onChange: (workload: string, isGone: boolean) => void;
}): WatchedObjects {
  const { clock, onChange, ...rest } = options;
  const byWorkload = ({ metadata }: KubeObject): string[] => {
    const workload = metadata.labels?.[workloadLabel];
    return workload === undefined ? [] : [workload];
  };
  const start = <R extends KubeObject>(kind: Kind, transform?: (object: Stored<R>) => Stored<R>): Reflector<R> =>
    startReflector<R>({
      ...rest,
      clock,
      kind,
      labelSelector: workloadsSelector,
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
  const pods = start<Pod>(builtinKinds.pod, withoutSpec);
  const byKind = new Map<Kind, Reflector<KubeObject>>([
    [builtinKinds.deployment, deployments as Reflector<KubeObject>],
    [builtinKinds.service, services as Reflector<KubeObject>],
    [builtinKinds.podDisruptionBudget, start<PodDisruptionBudget>(builtinKinds.podDisruptionBudget)],
    [builtinKinds.networkPolicy, start<NetworkPolicy>(builtinKinds.networkPolicy)],
  ]);
  const all = [pods, ...byKind.values()];

  return {
    deployment: (workload) => deployments.store.get(workload),
    service: (workload) => services.store.get(workload),
    pods: (workload) => pods.store.by('workload', workload),
    object(kind, workload) {
      const reflector = byKind.get(kind);
      if (reflector === undefined) throw new TypeError(`${kind.kind} is not one of ${workloadKinds.length} kinds`);
      return reflector.store.get(workload);
    },
    synced: Promise.all(all.map((reflector) => reflector.synced)).then(() => undefined),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}

/** Of pods only their status tells why a workload does not run; there may be many of them. */
function withoutSpec(pod: Stored<Pod>): Stored<Pod> {
  const { name, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, labels } = pod.metadata;
  const workload = labels?.[workloadLabel];
  const metadata = { name, uid, resourceVersion, generation, creationTimestamp };
  return {
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: {
      ...metadata,
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(workload === undefined ? {} : { labels: { [workloadLabel]: workload } }),
    },
    spec: { containers: [] },
    ...(pod.status === undefined ? {} : { status: pod.status }),
  };
}
