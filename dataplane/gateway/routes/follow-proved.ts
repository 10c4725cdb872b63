import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { Stored } from '#resources/metadata';
import type { AnyRoute, OpenRouteSource } from './ports.ts';
import type { ProbeVerdict } from './route-table.ts';

/**
 * Number of contradicting probe answers before a route is rejected. A restarting process briefly gives such answers.
 */
const contradictionsToReject = 4;
const probeWaits = { firstMs: 250, maxMs: 10_000 } as const;

/** The result of one probe. `reached`: the target of the route answered, and its answer contradicts the route. */
export type RouteProof =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: string; readonly reached: boolean };

/** Calls the target of a route once to see whether it exists. Never throws. */
type ProveRoute = (signal: AbortSignal) => Promise<RouteProof>;

type FollowOptions<R extends AnyRoute> = {
  readonly table: {
    has(name: string): boolean;
    remove(name: string): void;
    probed(name: string, version: string, verdict: ProbeVerdict): void;
    complete(): void;
  };
  /** Whether the route belongs to this gateway. */
  readonly isOurs: (name: string, current: Stored<R>) => boolean;
  /** Records the newest version of a route. @returns how to prove that version; undefined if it needs no proof */
  readonly observe: (name: string, current: Stored<R>) => ProveRoute | undefined;
  readonly openSource: OpenRouteSource<R>;
  /** Called after a change of a route of this gateway. `seen`: the watch delivered the change, not a probe. */
  readonly onChange: (seen: boolean) => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Backoff between the probes of one route version, milliseconds. */
  readonly waits?: { readonly firstMs: number; readonly maxMs: number };
};

export type FollowedRoutes = AsyncDisposable & {
  /** Resolves when the first complete list of routes has been loaded. */
  readonly complete: Promise<void>;
  throughVersion(): string;
};

/** Keeps a table of routes up to date. Each version is probed until a probe succeeds or the version is replaced. */
export function followProved<R extends AnyRoute>(options: FollowOptions<R>): FollowedRoutes {
  const { table, isOurs, observe, onChange, logger, clock = systemClock, waits = probeWaits } = options;
  const stop = new AbortController();
  const probes = new Map<string, AbortController>();

  function forget(name: string): void {
    probes.get(name)?.abort();
    probes.delete(name);
  }

  function take(name: string, current: Stored<R> | undefined): void {
    const ours = current !== undefined && isOurs(name, current);
    if (!ours && !table.has(name)) return;
    forget(name);
    if (!ours) {
      table.remove(name);
      logger.info('route_removed', { route: name });
    } else {
      const { resourceVersion: version } = current.metadata;
      const prove = observe(name, current);
      logger.info('route_added', { route: name, version });
      if (prove !== undefined) void probe(name, version, prove);
    }
    onChange(true);
  }

  async function probe(name: string, version: string, prove: ProveRoute): Promise<void> {
    const controller = new AbortController();
    probes.set(name, controller);
    const signal = AbortSignal.any([stop.signal, controller.signal]);
    const backoff = createBackoff({ ...waits, resetAfterMs: Number.POSITIVE_INFINITY, now: clock.now });
    let contradictions = 0;
    while (!signal.aborted) {
      const proof = await prove(signal);
      if (signal.aborted) return;
      if (!proof.ok && proof.reached) contradictions += 1;
      const verdict = verdictOf(proof, contradictions);
      table.probed(name, version, verdict);
      const code = proof.ok ? 'ok' : proof.code;
      logger.info('route_probed', { route: name, version, verdict: verdict.kind, code });
      onChange(false);
      if (proof.ok) return forget(name);
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

function verdictOf(proof: RouteProof, contradictions: number): ProbeVerdict {
  if (proof.ok) return { kind: 'proved' };
  if (contradictions < contradictionsToReject) return { kind: 'unreached' };
  return { kind: 'contradicted', reason: `probe_${proof.code}` };
}
