import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { startReflector } from '#kube/watch/reflector';
import type { GatewayReplicas } from '../../ports.ts';

/** Port of the admin address in every gateway pod of the chart. */
const adminPort = 9_090;
/** Selects the pods of all gateways. */
const gatewaysSelector = 'app.kubernetes.io/component=gateway,portcullis.dev/gateway';

/** Gateway replicas in a cluster. */
type GatewayPods = GatewayReplicas & {
  readonly synced: Promise<void>;
  /** Milliseconds since the last contact of the watch with the API server. */
  silenceMs(): number;
};

/** Gateway replicas as pods: the name of a replica is the name of its pod. */
export function createGatewayPods(options: {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): GatewayPods {
  const { client, clock, logger } = options;
  let listener: (replica: string) => void = () => undefined;
  const reflector = startReflector<Pod>({
    client,
    kind: builtinKinds.pod,
    labelSelector: gatewaysSelector,
    clock,
    logger,
    onChange(name, current, previous) {
      const was = previous !== undefined && isPodRunning(previous);
      const is = current !== undefined && isPodRunning(current);
      if (was !== is) listener(name);
    },
  });

  return {
    async isAlive(replica) {
      await reflector.synced;
      const seen = reflector.store.get(replica);
      if (seen !== undefined && isPodRunning(seen)) return true;
      // A watch may be stale, so that the pod of a replica is read live before the replica counts as stopped.
      const pod = await client.get<Pod>(builtinKinds.pod, replica);
      return pod !== undefined && isPodRunning(pod);
    },
    async admins() {
      await reflector.synced;
      const pods = reflector.store.list().filter(isPodRunning);
      return pods
        .map(({ metadata, status }) => ({ replica: metadata.name, origin: originOf(status?.podIP) }))
        .toSorted((a, b) => (a.replica < b.replica ? -1 : 1));
    },
    onChange(next) {
      listener = next;
    },
    synced: reflector.synced,
    silenceMs: () => clock.now() - reflector.lastContact(),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}

function originOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  return `http://${address.includes(':') ? `[${address}]` : address}:${adminPort}`;
}

/**
 * Whether a container of the gateway pod runs. A pod under deletion counts as running until its containers have ended;
 * a pod in restart backoff does not.
 */
export function isPodRunning({ status }: Pick<Pod, 'status'>): boolean {
  if (status?.phase !== 'Running') return false;
  return status.containerStatuses?.some((container) => container.state?.running !== undefined) ?? false;
}
