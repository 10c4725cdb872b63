import type { BundleLimits } from '#contracts/bundle';
import type { Definition } from '#contracts/policy';
import { contextHeaders } from '#contracts/profiles';
import {
  type GatewayRoute,
  type GatewayRouteSpec,
  type GuardedRoute,
  routeFormatVersion,
} from '#resources/gateway-route';
import { apiVersion, idLabel, kinds } from '#resources/kinds';
import type { ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { previousAnnotation } from '../../../applications/previous-application.ts';

/** A streaming binding needs bodies of at least this size (docs/design/streaming.md). */
export const minStreamingBodyBytes = 8_192;

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
  } as const satisfies Partial<GatewayRouteSpec>;
}

/** The data with which a gateway guards a model with one bundle. */
export function makeGuard(input: {
  readonly revision: PolicyRevisionSpec;
  readonly contentProfile: string;
  readonly digest: string;
  readonly addresses: readonly string[];
  readonly definition: Definition;
  readonly limits: BundleLimits;
  readonly streaming: { readonly allowed: true } | { readonly allowed: false; readonly rule: string };
}): GuardedRoute {
  const { revision, contentProfile, digest, limits } = input;
  const policyRevision = String(revision.number);
  return {
    mode: 'Policy',
    policyId: revision.policyId,
    policyRevision,
    digest,
    addresses: [...input.addresses],
    headers: {
      [contextHeaders.policyId]: revision.policyId,
      [contextHeaders.policyRevision]: policyRevision,
      [contextHeaders.bundleDigest]: digest,
      [contextHeaders.contentProfile]: contentProfile,
    },
    maxBodyBytes: limits.maxBodyBytes,
    maxMessages: limits.maxMessages,
    deadlineMs: deadlinesOf(input.definition),
    streaming: streamingOf(input.streaming, limits.maxBodyBytes),
  };
}

function streamingOf(
  judged: { readonly allowed: true } | { readonly allowed: false; readonly rule: string },
  maxBodyBytes: number,
): GuardedRoute['streaming'] {
  if (!judged.allowed) return { allowed: false, rule: judged.rule };
  if (maxBodyBytes >= minStreamingBodyBytes) return { allowed: true };
  return { allowed: false, rule: `the limit maxBodyBytes (${maxBodyBytes}, below ${minStreamingBodyBytes})` };
}

/** The stage budgets of a definition, milliseconds. */
export function deadlinesOf({ request, response }: Definition): GuardedRoute['deadlineMs'] {
  return { request: request.deadlineMs, response: response.deadlineMs };
}

/** A new route of a binding, with its name; an owner reference removes it if the finalizer did not. */
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
