import { type KubeClient, KubeError } from '#kube/client/client';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { aliasKey } from '../../../caches/caches.ts';
import type { Mover } from './alias-circle.ts';

/**
 * Every binding of the cycle still holds its alias and asks for the next one's, from live reads: a binding does not release its alias
 * for others whose spec has changed.
 * @throws KubeError with the code of a lost race
 */
export async function confirmCircle(client: Pick<KubeClient, 'get'>, circle: readonly Mover[]): Promise<void> {
  for (const { name, id, wants, holds } of circle) {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, name);
    const route = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
    const stands =
      binding !== undefined &&
      binding.metadata.deletionTimestamp === undefined &&
      binding.metadata.labels?.[idLabel] === id &&
      aliasKey(binding.spec.gateway, binding.spec.model.alias) === wants &&
      route?.spec.binding.id === id &&
      aliasKey(route.spec.gateway, route.spec.alias) === holds;
    if (!stands) throw new KubeError('conflict', 'the bindings that exchange aliases have changed');
  }
}
