import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Deployment, NetworkPolicy, Pod, Service } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import type { KubeObject } from '#kube/client/kube-object';
import { allSynced } from '#kube/watch/all-synced';
import { type Reflector, startReflector } from '#kube/watch/reflector';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { agentsSelector, agentWorkloadLabel } from './resources/agent-labels.ts';

/** Kinds of the objects of a version. There is at most one object of each kind; it has the name of the workload. */
export const agentKinds = [
  builtinKinds.networkPolicy,
  builtinKinds.service,
  builtinKinds.deployment,
] as const satisfies readonly Kind[];

/** The objects and pods of agents, as the watches last reported them. */
type WatchedAgents = AsyncDisposable & {
  deployment(workload: string): Stored<Deployment> | undefined;
  deployments(): readonly Stored<Deployment>[];
  pods(workload: string): readonly Stored<Pod>[];
  object(kind: Kind, workload: string): Stored<KubeObject> | undefined;
  /** The metadata of the ConfigMap: all bundles together may exceed the memory of a process. */
  configMap(workload: string): Stored<ConfigMap> | undefined;
  readonly synced: Promise<void>;
  /** Milliseconds since the least recent contact of a watch with the API server. */
  silenceMs(): number;
};

export function watchAgents(options: {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Called with the workload of an object that changed. */
  readonly onChange: (workload: string) => void;
}): WatchedAgents {
  const { clock, onChange, ...rest } = options;
  const byWorkload = ({ metadata }: KubeObject): string[] => {
    const workload = metadata.labels?.[agentWorkloadLabel];
    return workload === undefined ? [] : [workload];
  };
  const start = <R extends KubeObject>(kind: Kind): Reflector<R> =>
    startReflector<R>({
      ...rest,
      clock,
      kind,
      labelSelector: agentsSelector,
      indexes: { workload: byWorkload },
      onChange(_name, current, previous) {
        for (const name of new Set([current, previous].flatMap((one) => (one === undefined ? [] : byWorkload(one))))) {
          onChange(name);
        }
      },
    });
  const deployments = start<Deployment>(builtinKinds.deployment);
  const pods = start<Pod>(builtinKinds.pod);
  const configMaps = start<ConfigMap>(builtinKinds.configMapMetadata);
  const byKind = new Map<Kind, Reflector<KubeObject>>([
    [builtinKinds.deployment, deployments as Reflector<KubeObject>],
    [builtinKinds.service, start<Service>(builtinKinds.service) as Reflector<KubeObject>],
    [builtinKinds.networkPolicy, start<NetworkPolicy>(builtinKinds.networkPolicy)],
  ]);
  const all = [pods, configMaps, ...byKind.values()];

  return {
    deployment: (workload) => deployments.store.get(workload),
    deployments: () => deployments.store.list(),
    pods: (workload) => pods.store.by('workload', workload),
    configMap: (workload) => configMaps.store.get(workload),
    object: (kind, workload) => byKind.get(kind)?.store.get(workload),
    synced: allSynced(all),
    silenceMs: () => Math.max(...all.map((reflector) => clock.now() - reflector.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((reflector) => reflector[Symbol.asyncDispose]()));
    },
  };
}
