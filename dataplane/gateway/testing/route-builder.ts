import { contextHeaders, currentProfile } from '#contracts/profiles';
import type { GatewayRoute, GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import { apiVersion } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { AnyRoute, RouteListener, RouteSource } from '../routes/ports.ts';

/** The workload and policy that a guarded test route names. */
export type PolicyPin = {
  readonly policyId: string;
  readonly policyRevision: string;
  readonly digest: string;
  readonly addresses: readonly string[];
};

const generationId = '0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c01';

/** The guard section of a test route; `changes` replace its other members. */
export function routeGuard(
  pin: PolicyPin,
  contentProfile: string = currentProfile,
  rest: Partial<GuardedRoute> = {},
): GuardedRoute {
  return {
    mode: 'Policy',
    policyId: pin.policyId,
    policyRevision: pin.policyRevision,
    digest: pin.digest,
    addresses: [...pin.addresses],
    headers: {
      [contextHeaders.policyId]: pin.policyId,
      [contextHeaders.policyRevision]: pin.policyRevision,
      [contextHeaders.bundleDigest]: pin.digest,
      [contextHeaders.contentProfile]: contentProfile,
    },
    maxBodyBytes: 32_768,
    maxMessages: 32,
    deadlineMs: { request: 1_000, response: 1_000 },
    streaming: { allowed: true },
    ...rest,
  };
}

/** The spec of a test route; the argument replaces members. */
export function routeSpec(
  alias: string,
  upstreamUrl: string,
  guardrail: GatewayRouteSpec['guardrail'],
  rest: Partial<GatewayRouteSpec> = {},
): GatewayRouteSpec {
  return {
    formatVersion: 1,
    gateway: 'default',
    binding: { name: alias, uid: `uid-${alias}`, id: `id-${alias}` },
    alias,
    generationId,
    token: '',
    contentProfile: currentProfile,
    state: 'Enabled',
    guardrail,
    ...(guardrail.mode === 'Policy' ? { workload: 'g-test' } : {}),
    upstream: { provider: 'scripted', endpoint: upstreamUrl, model: 'upstream-model' },
    extraRequestKeys: [],
    ...rest,
  };
}

let version = 0;

/** A stored GatewayRoute with this spec and a unique resource version. */
export function storedRoute(name: string, spec: unknown, uid = `uid-${name}`): Stored<GatewayRoute> {
  version += 1;
  return {
    apiVersion,
    kind: 'GatewayRoute',
    metadata: {
      name,
      uid,
      resourceVersion: String(version),
      generation: version,
      creationTimestamp: '2026-01-02T03:04:05Z',
    },
    spec: spec as GatewayRouteSpec,
  };
}

/** A source of routes whose changes a test delivers. */
export type HandSource<R extends AnyRoute = GatewayRoute> = {
  readonly open: (listener: RouteListener<R>) => RouteSource;
  put(route: Stored<R>): void;
  remove(name: string): void;
  /** Marks the first list of routes as complete. */
  complete(): void;
};

export function handSource<R extends AnyRoute = GatewayRoute>(): HandSource<R> {
  const synced = Promise.withResolvers<void>();
  const listeners: RouteListener<R>[] = [];
  const held = new Map<string, Stored<R>>();
  let through = '0';
  const tell = (name: string, current: Stored<R> | undefined): void => {
    for (const listener of listeners) listener.onChange(name, current);
    if (current !== undefined) through = current.metadata.resourceVersion;
  };
  return {
    open(listener) {
      listeners.push(listener);
      for (const [name, route] of held) listener.onChange(name, route);
      return { synced: synced.promise, throughVersion: () => through, [Symbol.asyncDispose]: async () => undefined };
    },
    put(route) {
      held.set(route.metadata.name, route);
      tell(route.metadata.name, route);
    },
    remove(name) {
      held.delete(name);
      tell(name, undefined);
    },
    complete: () => synced.resolve(),
  };
}
