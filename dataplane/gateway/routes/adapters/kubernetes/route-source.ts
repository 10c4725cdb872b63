import type { Logger } from '#kit/log/logger';
import type { KubeClient } from '#kube/client/client';
import { startReflector } from '#kube/watch/reflector';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { OpenRouteSource } from '../../ports.ts';

/** Watches the GatewayRoutes of a Kubernetes API server. */
export function kubernetesRoutes(client: KubeClient, logger: Pick<Logger, 'info' | 'warn'>): OpenRouteSource {
  return (listener) => {
    const reflector = startReflector<GatewayRoute>({
      client,
      kind: kinds.gatewayRoute,
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
