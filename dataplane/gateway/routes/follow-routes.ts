import type { CheckTarget } from '#checks/check-target';
import type { CheckClient, ProbeOutcome } from '#checks/client';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import { checkTarget } from './check-target.ts';
import type { OpenRouteSource } from './ports.ts';
import type { ProbeVerdict, RouteTable, SeenRoute } from './route-table.ts';

/**
 * Number of contradicting probe answers before a route is rejected. A restarting runtime briefly gives such answers.
 */
const contradictionsToReject = 4;
const probeWaits = { firstMs: 250, maxMs: 10_000 } as const;

/** Probe failures that do not contradict the route: the runtime was unreachable or could not answer at that moment. */
const unreachedCodes: ReadonlySet<string> = new Set([
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

type FollowedRoutes = AsyncDisposable & {
  /** Resolves when the first complete list of routes has been loaded. */
  readonly complete: Promise<void>;
  throughVersion(): string;
};

/**
 * Keeps the table of routes up to date. The runtime of each guarded route version is probed, with a backoff, until a
 * probe succeeds or the version is replaced or deleted.
 */
export function followRoutes(options: FollowOptions): FollowedRoutes {
  const { gateway, table, checks, onChange, logger, clock = systemClock, waits = probeWaits } = options;
  const stop = new AbortController();
  const probes = new Map<string, AbortController>();

  function forget(name: string): void {
    probes.get(name)?.abort();
    probes.delete(name);
  }

  function take(name: string, current: Stored<GatewayRoute> | undefined): void {
    const ours = current !== undefined && isOurs(name, current.spec);
    if (!ours && !table.has(name)) return;
    forget(name);
    if (!ours) {
      table.remove(name);
      logger.info('route_gone', { route: name });
    } else {
      const { resourceVersion: version } = current.metadata;
      const unproved = table.observe(seenRoute(name, current));
      logger.info('route_seen', { route: name, version });
      if (unproved?.guardrail.mode === 'Policy') {
        void probe(name, version, checkTarget(unproved, unproved.guardrail, 'request'));
      }
    }
    onChange(true);
  }

  /**
   * Handles a route version whose gateway cannot be read: it is rejected if the table holds the route, and ignored
   * otherwise.
   */
  function isOurs(name: string, spec: GatewayRoute['spec'] | undefined): boolean {
    const named: unknown = spec?.gateway;
    return named === gateway || (typeof named !== 'string' && table.has(name));
  }

  async function probe(name: string, version: string, target: CheckTarget): Promise<void> {
    const controller = new AbortController();
    probes.set(name, controller);
    const signal = AbortSignal.any([stop.signal, controller.signal]);
    const backoff = createBackoff({ ...waits, resetAfterMs: Number.POSITIVE_INFINITY, now: clock.now });
    let contradictions = 0;
    while (!signal.aborted) {
      const outcome = await checks.probe(target, { signal });
      if (signal.aborted) return;
      if (!outcome.ok && !unreachedCodes.has(outcome.code)) contradictions += 1;
      const verdict = verdictOf(outcome, contradictions);
      table.probed(name, version, verdict);
      logger.info('route_probed', {
        route: name,
        version,
        verdict: verdict.kind,
        code: outcome.ok ? 'ok' : outcome.code,
      });
      onChange(false);
      if (outcome.ok) return forget(name);
      await wait(backoff.next(), signal);
    }
  }

  const source = options.openSource({ onChange: take });
  const complete = source.synced.then(() => {
    table.complete();
    onChange(true);
  });
  complete.catch(() => undefined);
  return {
    complete,
    throughVersion: () => source.throughVersion(),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await source[Symbol.asyncDispose]();
    },
  };
}

function verdictOf(outcome: ProbeOutcome, contradictions: number): ProbeVerdict {
  if (outcome.ok) return { kind: 'proved' };
  if (contradictions < contradictionsToReject) return { kind: 'unreached' };
  return { kind: 'contradicted', reason: `probe_${outcome.code}` };
}

function seenRoute(name: string, { metadata, spec }: Stored<GatewayRoute>): SeenRoute {
  const created = Math.floor(Date.parse(metadata.creationTimestamp) / 1_000);
  return {
    name,
    uid: metadata.uid,
    version: metadata.resourceVersion,
    created: Number.isFinite(created) ? created : 0,
    spec,
  };
}
