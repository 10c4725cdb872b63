import type { CheckOutcome, FailedProvider } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import type { Stage } from '#contracts/policy';
import type { Logger } from '#kit/log/logger';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { GatewayReportSpec } from '#resources/gateway-report';
import type { GatewayRouteSpec } from '#resources/gateway-route';
import { createSteadyValue, type PauseRange } from './steady-value.ts';

type ProviderState = NonNullable<GatewayReportSpec['providers']>[number];
/** A rule of a stage that could not be judged, and its detector or classifier. */
type RuleFault = { readonly rule: string; readonly provider: FailedProvider };
type Waits = { readonly probe: PauseRange; readonly shown: PauseRange };

const defaultWaits: Waits = {
  probe: { firstMs: 1_000, maxMs: 60_000 },
  shown: { firstMs: 1_000, maxMs: 300_000 },
};

/** The text of a check that is made while a provider fails; the text itself states this purpose. */
const question = 'This is a test of the connection. Please answer it.';
const roles = { request: 'user', response: 'assistant' } as const satisfies Record<Stage, string>;

type CheckWatchOptions = {
  readonly checks: Pick<CheckClient, 'check'>;
  /** The routes that are served. */
  readonly routes: () => readonly { readonly spec: GatewayRouteSpec }[];
  readonly onChange: () => void;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  readonly waits?: Waits;
};

/**
 * The detectors and classifiers of the routes' rules that return no judgement, as the checks of requests show. While
 * one of them fails, the stage is checked with a text of the gateway, with backoff, so that the recovery of the
 * provider is noticed without a request.
 */
type CheckProviderWatch = Disposable & {
  /** The checks of requests; the outcome of each check shows the state of its stage. */
  readonly checks: Pick<CheckClient, 'check'>;
  /** The routes may have changed. */
  look(): void;
  /** One entry for each workload and stage with a provider that returns no judgement. */
  state(): readonly ProviderState[];
};

type WatchedStage = Disposable & {
  readonly digest: string;
  readonly shown: RuleFault | undefined;
  readonly observed: RuleFault | undefined;
  observe(next: RuleFault | undefined): void;
};

export function watchCheckProviders(options: CheckWatchOptions): CheckProviderWatch {
  const { waits = defaultWaits, clock = systemClock } = options;
  const workloads = (): ReadonlyMap<string, string[]> => servedWorkloads(options.routes());
  const watched = new Map<string, WatchedStage>();

  async function check(...call: Parameters<CheckClient['check']>): Promise<CheckOutcome> {
    const outcome = await options.checks.check(...call);
    note(call[0], call[1], outcome);
    return outcome;
  }

  function note(target: CheckTarget, stage: Stage, outcome: CheckOutcome): void {
    const key = `${stage} ${target.digest}`;
    const known = watched.get(key);
    const fault = faultOf(outcome);
    if (fault === undefined) {
      if (known?.observed !== undefined && isAnswered(known.observed, outcome)) known.observe(undefined);
      return;
    }
    // A request can end after its route was removed.
    if (known === undefined && !workloads().has(target.digest)) return;
    (known ?? add(key, target, stage)).observe(fault);
  }

  function add(key: string, target: CheckTarget, stage: Stage): WatchedStage {
    const ask = (signal: AbortSignal): Promise<CheckOutcome> =>
      check(target, stage, [{ role: roles[stage], content: question }], { signal });
    const one = watchStage({ ...options, waits, clock }, target.digest, ask);
    watched.set(key, one);
    return one;
  }

  return {
    checks: { check },
    look() {
      if (watched.size === 0) return;
      const current = workloads();
      for (const [key, one] of watched) {
        if (current.has(one.digest)) continue;
        one[Symbol.dispose]();
        watched.delete(key);
        if (one.shown !== undefined) options.onChange();
      }
    },
    state() {
      if (watched.size === 0) return [];
      const current = workloads();
      return [...watched.values()]
        .flatMap(({ digest, shown }) => (shown === undefined ? [] : entriesOf(shown, current.get(digest) ?? [])))
        .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
    },
    [Symbol.dispose]() {
      for (const one of watched.values()) one[Symbol.dispose]();
    },
  };
}

/** The workloads of the guarded routes, by the digest of their bundle. */
function servedWorkloads(taken: readonly { readonly spec: GatewayRouteSpec }[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { spec } of taken) {
    if (spec.guardrail.mode !== 'Policy' || spec.workload === undefined) continue;
    const names = found.get(spec.guardrail.digest) ?? [];
    if (!names.includes(spec.workload)) names.push(spec.workload);
    found.set(spec.guardrail.digest, names);
  }
  return found;
}

function faultOf(outcome: CheckOutcome): RuleFault | undefined {
  if (outcome.kind !== 'failed' || outcome.rule === undefined || outcome.provider === undefined) return undefined;
  return { rule: outcome.rule, provider: outcome.provider };
}

/**
 * Whether the provider has judged again. Providers are called one after another and the first failure ends the check,
 * so that a pass shows that all of them judged; a deny shows only that the provider of the denying rule judged.
 */
function isAnswered({ rule }: RuleFault, outcome: CheckOutcome): boolean {
  switch (outcome.kind) {
    case 'pass':
    case 'mask':
      return true;
    case 'deny':
      return outcome.rule === rule;
    case 'failed':
      return false;
  }
}

function watchStage(
  options: CheckWatchOptions & { readonly waits: Waits; readonly clock: Clock },
  digest: string,
  ask: (signal: AbortSignal) => Promise<unknown>,
): WatchedStage {
  const { waits, clock, logger } = options;
  const stop = new AbortController();
  let observed: RuleFault | undefined;
  let isProbing = false;
  const shown = createSteadyValue<RuleFault | undefined>(undefined, {
    clock,
    pauses: waits.shown,
    onChange(next) {
      if (next === undefined) logger.info('check_provider_recovered', { digest });
      else logger.warn('check_provider_failing', { digest, rule: next.rule, ...namedCause(next.provider) });
      options.onChange();
    },
  });

  /** The caller of `ask` records each outcome, including the outcome of a check for a client. */
  async function probe(): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const backoff = createBackoff({ ...waits.probe, resetAfterMs: Number.POSITIVE_INFINITY, now: clock.now });
    while (observed !== undefined && !stop.signal.aborted) {
      await wait(backoff.next(), stop.signal);
      if (stop.signal.aborted || observed === undefined) break;
      await ask(stop.signal);
    }
    isProbing = false;
  }

  return {
    digest,
    get shown() {
      return shown.value;
    },
    get observed() {
      return observed;
    },
    observe(next) {
      if (isSameFault(observed, next)) return;
      observed = next;
      shown.observe(next);
      if (next !== undefined) void probe();
    },
    [Symbol.dispose]() {
      stop.abort();
      shown[Symbol.dispose]();
    },
  };
}

function isSameFault(one: RuleFault | undefined, other: RuleFault | undefined): boolean {
  return (
    one?.rule === other?.rule &&
    one?.provider.name === other?.provider.name &&
    one?.provider.cause === other?.provider.cause
  );
}

function namedCause({ name, cause }: FailedProvider): { readonly provider: string; readonly cause: string } {
  return { provider: name, cause };
}

function entriesOf({ rule, provider: { name, cause } }: RuleFault, workloads: readonly string[]): ProviderState[] {
  return workloads.map((workload) => ({ provider: name, workload, rule, cause }));
}

function rank({ provider, workload, rule, cause }: ProviderState): string {
  return [provider, workload, rule, cause].join(' ');
}
