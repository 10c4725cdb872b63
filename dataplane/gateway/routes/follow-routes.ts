import type { CheckClient } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import { checkTarget } from './check-target.ts';
import { type FollowedRoutes, followProved } from './follow-proved.ts';
import type { OpenRouteSource } from './ports.ts';
import type { RouteTable, SeenRoute } from './route-table.ts';

/** Probe failures that do not contradict the route: the runtime was unreachable or could not answer at that moment. */
export const unreachedCodes: ReadonlySet<string> = new Set([
  'network',
  'timeout',
  'aborted',
  'no_address',
  'no_token',
  'overloaded',
  'stage_timeout',
]);

type FollowOptions = {
  readonly gateway: string;
  readonly table: RouteTable;
  readonly openSource: OpenRouteSource;
  readonly checks: Pick<CheckClient, 'probe'>;
  /** Called after a change of a route of this gateway. `seen`: the watch delivered the change, not a probe. */
  readonly onChange: (seen: boolean) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Backoff between the probes of one route version, milliseconds. */
  readonly waits?: { readonly firstMs: number; readonly maxMs: number };
};

/**
 * Keeps the table of routes up to date. The runtime of each guarded route version is probed, with a backoff, until a
 * probe succeeds or the version is replaced or deleted.
 */
export function followRoutes(options: FollowOptions): FollowedRoutes {
  const { gateway, table, checks, onChange, logger, openSource, clock, waits } = options;

  /**
   * Handles a route version without a readable gateway: it is rejected if the table already has the route, and ignored
   * otherwise.
   */
  function isOurs(name: string, spec: GatewayRoute['spec'] | undefined): boolean {
    const named: unknown = spec?.gateway;
    return named === gateway || (typeof named !== 'string' && table.has(name));
  }

  return followProved<GatewayRoute>({
    table,
    isOurs: (name, { spec }) => isOurs(name, spec),
    observe(name, current) {
      const unproved = table.observe(seenRoute(name, current));
      if (unproved?.guardrail.mode !== 'Policy') return undefined;
      const target = checkTarget(unproved, unproved.guardrail, 'request');
      return async (signal) => {
        const outcome = await checks.probe(target, { signal });
        return outcome.ok ? outcome : { ok: false, code: outcome.code, reached: !unreachedCodes.has(outcome.code) };
      };
    },
    openSource,
    onChange,
    logger,
    ...(clock === undefined ? {} : { clock }),
    ...(waits === undefined ? {} : { waits }),
  });
}

/** A stored route as a table takes it. */
export function seenRoute(
  name: string,
  { metadata, spec }: Pick<Stored<GatewayRoute>, 'metadata'> & { readonly spec: unknown },
): SeenRoute {
  const created = Math.floor(Date.parse(metadata.creationTimestamp) / 1_000);
  return {
    name,
    uid: metadata.uid,
    version: metadata.resourceVersion,
    created: Number.isFinite(created) ? created : 0,
    spec,
  };
}
