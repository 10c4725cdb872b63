import type { ProviderCause } from '#contracts/provider-causes';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { type GatewayReportSpec, maxProviderStates } from '#resources/gateway-report';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { createSteadyValue, type PauseRange } from './steady-value.ts';

type Upstream = GatewayRouteSpec['upstream'];
type ProviderState = NonNullable<GatewayReportSpec['providers']>[number];
/** `unknown`: not tried yet. */
type Health = 'unknown' | 'reachable' | ProviderCause;

const defaultWaits: Waits = {
  look: 100,
  probe: { firstMs: 1_000, maxMs: 60_000 },
  shown: { firstMs: 1_000, maxMs: 300_000 },
};

type Waits = { readonly look: number; readonly probe: PauseRange; readonly shown: PauseRange };

/** A probe of a provider that causes no cost; `undecided` if the answer does not show whether the cause is resolved. */
export type ProviderProbe = (
  upstream: Upstream,
  cause: ProviderCause | undefined,
  signal: AbortSignal,
) => Promise<'reachable' | 'undecided' | ProviderCause>;

type WatchOptions = {
  /** The upstreams of the routes that are served. */
  readonly upstreams: () => Iterable<Upstream>;
  readonly probe: ProviderProbe;
  readonly onChange: () => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  readonly waits?: Waits;
};

/**
 * The state of the providers of this replica's routes. A provider is probed once when its first route is loaded, and
 * with backoff while it fails; otherwise requests of clients show its state.
 */
export type ProviderWatch = Disposable & {
  /** The routes may have changed. */
  look(): void;
  /** A request has shown the state of the provider; `undefined`: it served the request. */
  note(upstream: Upstream, cause: ProviderCause | undefined): void;
  state(): readonly ProviderState[];
};

type Watched = Disposable & {
  readonly upstream: Upstream;
  readonly model: string | undefined;
  readonly health: Health;
  observe(next: Health): void;
};

export function watchProviders(options: WatchOptions): ProviderWatch {
  const { waits = defaultWaits, clock = systemClock } = options;
  const watched = new Map<string, Watched>();
  /**
   * Providers whose last connection broke: a single broken connection, such as an idle connection that was closed, does
   * not count as a failure.
   */
  const broken = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function add(key: string, upstream: Upstream, model: string | undefined): Watched {
    const one = watchOne({ ...options, waits, clock }, upstream, model);
    watched.set(key, one);
    return one;
  }

  function lookNow(): void {
    clearTimeout(timer);
    timer = undefined;
    const current = new Set<string>();
    for (const upstream of options.upstreams()) {
      const key = keyOf(upstream);
      current.add(key).add(keyOf(upstream, upstream.model));
      if (!watched.has(key)) add(key, upstream, undefined);
    }
    for (const [key, one] of watched) {
      if (current.has(key)) continue;
      one[Symbol.dispose]();
      watched.delete(key);
      broken.delete(key);
      if (one.health !== 'unknown') options.onChange();
    }
  }

  return {
    look() {
      timer ??= setTimeout(lookNow, waits.look);
    },
    note(upstream, cause) {
      const key = keyOf(upstream);
      // The first request can end before the routes were read.
      if (!watched.has(key)) lookNow();
      const provider = watched.get(key);
      if (provider === undefined) return;
      const modelKey = keyOf(upstream, upstream.model);
      const isSingle = cause === 'network' && provider.health === 'reachable' && !broken.has(key);
      if (cause === 'network') broken.add(key);
      else broken.delete(key);
      if (isSingle) return;
      const isOfModel = cause === 'model_not_found';
      provider.observe(cause === undefined || isOfModel ? 'reachable' : cause);
      if (isOfModel) (watched.get(modelKey) ?? add(modelKey, upstream, upstream.model)).observe(cause);
      else if (cause === undefined) watched.get(modelKey)?.observe('reachable');
    },
    state: () => entriesOf(watched.values()),
    [Symbol.dispose]() {
      clearTimeout(timer);
      for (const one of watched.values()) one[Symbol.dispose]();
    },
  };
}

function keyOf({ provider, endpoint, credential }: Upstream, model?: string): string {
  return JSON.stringify([provider, endpoint, credential, model]);
}

function watchOne(
  options: WatchOptions & { readonly waits: Waits; readonly clock: Clock },
  upstream: Upstream,
  model: string | undefined,
): Watched {
  const { clock, waits, logger } = options;
  const { provider, credential } = upstream;
  const stop = new AbortController();
  let observed: Health = 'unknown';
  let isProbing = false;
  const shown = createSteadyValue<Health>('unknown', {
    clock,
    pauses: waits.shown,
    onChange(next) {
      const fields = { provider, credential, model };
      if (next === 'reachable') logger.info('provider_recovered', fields);
      else logger.warn('provider_failing', { ...fields, cause: next });
      options.onChange();
    },
  });

  function observe(next: Health): void {
    observed = next;
    shown.observe(next);
    if (next !== 'reachable' && model === undefined) void probe();
  }

  async function probe(): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const backoff = createBackoff({ ...waits.probe, resetAfterMs: Number.POSITIVE_INFINITY, now: clock.now });
    while (observed !== 'reachable' && !stop.signal.aborted) {
      const before: Health = observed;
      if (before !== 'unknown') await wait(backoff.next(), stop.signal);
      if (stop.signal.aborted || isReachable(observed)) break;
      const found = await options.probe(upstream, before === 'unknown' ? undefined : before, stop.signal);
      // A request is stronger evidence than this probe: a connection does not refute a refused credential.
      const isOutdated = observed !== before;
      if (stop.signal.aborted || isOutdated || found === 'undecided') continue;
      observed = found;
      shown.observe(found);
    }
    isProbing = false;
  }

  if (model === undefined) void probe();
  return {
    upstream,
    model,
    get health() {
      return shown.value;
    },
    observe,
    [Symbol.dispose]() {
      stop.abort();
      shown[Symbol.dispose]();
    },
  };
}

function isReachable(health: Health): boolean {
  return health === 'reachable';
}

/** One entry for each provider, and for each model that is unknown to its provider; failures first, then by name. */
function entriesOf(watched: Iterable<Watched>): readonly ProviderState[] {
  const entries = new Map<string, ProviderState>();
  for (const { upstream, model, health } of watched) {
    if (health === 'unknown' || (model !== undefined && health === 'reachable')) continue;
    const key = JSON.stringify([upstream.provider, model]);
    // While a provider is being changed, routes may name its old and its new endpoint: a failure of either endpoint
    // counts.
    if (health === 'reachable' && entries.has(key)) continue;
    entries.set(key, {
      provider: upstream.provider,
      ...(model === undefined ? {} : { model }),
      ...(health === 'reachable' ? {} : { cause: health }),
    });
  }
  const rank = ({ provider, model, cause }: ProviderState): string =>
    `${cause === undefined ? 1 : 0} ${provider} ${model ?? ''}`;
  return [...entries.values()].toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, maxProviderStates);
}
