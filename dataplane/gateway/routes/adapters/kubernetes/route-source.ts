import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import { startReflector } from '#kube/watch/reflector';
import type { AgentRoute } from '#resources/agent-route';
import type { GatewayRoute } from '#resources/gateway-route';
import { type Kind, kinds } from '#resources/kinds';
import type { AnyRoute, OpenRouteSource } from '../../ports.ts';

type WatchLogger = Pick<Logger, 'info' | 'warn'>;

/** Watches the GatewayRoutes of a Kubernetes API server. */
export function kubernetesRoutes(client: KubeClient, logger: WatchLogger): OpenRouteSource {
  return watchRoutes<GatewayRoute>(client, kinds.gatewayRoute, logger);
}

/** Watches the AgentRoutes of a Kubernetes API server. */
export function kubernetesAgentRoutes(client: KubeClient, logger: WatchLogger): OpenRouteSource<AgentRoute> {
  return watchRoutes<AgentRoute>(client, kinds.agentRoute, logger);
}

function watchRoutes<R extends AnyRoute>(client: KubeClient, kind: Kind, logger: WatchLogger): OpenRouteSource<R> {
  return (listener) => {
    const reflector = startReflector<R>({
      client,
      kind,
      onChange: (name, current) => listener.onChange(name, current),
      logger,
    });
    return {
      synced: reflector.synced,
      throughVersion: () => reflector.throughVersion(),
      [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
    };
  };
}
