import { expandJudge } from '#contracts/judged-texts';
import { type GatewayRoute, type GatewayRouteSpec, routeFormatVersion } from '#resources/gateway-route';
import { apiVersion, idLabel, kinds } from '#resources/kinds';
import type { ModelBindingSpec } from '#resources/model-binding';
import { previousAnnotation } from '../../../applications/previous-application.ts';

export type Upstream = {
  readonly provider: string;
  readonly endpoint: string;
  readonly credential: string | undefined;
  readonly enabled: boolean;
};

type BindingIdentity = { readonly name: string; readonly uid: string; readonly id: string };

/** A route without its generation. */
export type RouteDraft = Omit<GatewayRouteSpec, 'generationId'>;

/** The part of a route that an edit of the binding changes without an application. */
export function makeRouteFrame(binding: BindingIdentity, spec: ModelBindingSpec, upstream: Upstream) {
  const { provider, endpoint, credential } = upstream;
  return {
    formatVersion: routeFormatVersion,
    gateway: spec.gateway,
    binding: { name: binding.name, uid: binding.uid, id: binding.id },
    alias: spec.model.alias,
    state: spec.model.state === 'Enabled' && upstream.enabled ? 'Enabled' : 'Disabled',
    upstream: {
      provider,
      endpoint,
      model: spec.model.upstreamModel,
      ...(credential === undefined ? {} : { credential }),
    },
    extraRequestKeys: [...(spec.extraRequestKeys ?? [])],
    ...(spec.judge === undefined ? {} : { judge: [...expandJudge(spec.judge)] }),
    ...(spec.unjudged === 'Refuse' ? { unjudged: spec.unjudged } : {}),
    ...(spec.streaming === undefined || spec.streaming === 'Strict' ? {} : { streaming: spec.streaming }),
    ...(spec.longConversations === 'Split' ? { longConversations: spec.longConversations } : {}),
  } as const satisfies Partial<GatewayRouteSpec>;
}

/** A new route of a binding, with its name; if the finalizer did not remove the route, its owner reference does. */
export function makeRoute(spec: GatewayRouteSpec, previous: string | undefined): GatewayRoute {
  const { name, uid, id } = spec.binding;
  return {
    apiVersion,
    kind: kinds.gatewayRoute.kind,
    metadata: {
      name,
      labels: { [idLabel]: id },
      ...(previous === undefined ? {} : { annotations: { [previousAnnotation]: previous } }),
      ownerReferences: makeOwner(name, uid),
    },
    spec,
  };
}

export function makeOwner(name: string, uid: string) {
  return [{ apiVersion, kind: kinds.modelBinding.kind, name, uid, controller: true }];
}
