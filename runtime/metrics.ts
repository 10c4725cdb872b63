import { type CheckErrorCode, checkErrors } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import { type ProviderCause, providerCauses } from '#contracts/provider-causes';
import type { Metrics } from '#kit/metrics/metrics';
import type { CheckMeter, OverloadedPart, RuleTally } from './check/ports.ts';
import type { CompiledRule } from './rules/compiled-section.ts';

const stages = ['request', 'response'] as const satisfies readonly Stage[];
const modes = ['enforce', 'observe'] as const;
const decisions = ['pass', 'mask', 'deny', 'failed'] as const;
const parts = ['bodies', 'checks', 'observers'] as const satisfies readonly OverloadedPart[];
const codes = Object.keys(checkErrors) as readonly CheckErrorCode[];

/** The number of policies and rules depends on the bundle; these limits apply to any bundle that a runtime loads. */
const policy = { bounded: 1_000 } as const;
const rule = { bounded: 8_192 } as const;
const provider = { bounded: 1_000 } as const;

/** Upper bounds in seconds: from a prefiltered pass to the largest deadline. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * Declares the counters of the runtime (`guardrail:metrics:bounded`). Labels name policies, rules and codes; no part of
 * a text, a caller or an answer becomes a label.
 */
export function createRuntimeMeters(metrics: Metrics): {
  readonly meter: CheckMeter;
  readonly tally: RuleTally;
  /** A call to a detector or classifier failed. */
  readonly providerFailed: (provider: string, cause: ProviderCause) => void;
} {
  const failures = metrics.counter({
    name: 'portcullis_runtime_provider_failures_total',
    help: 'Calls to detectors and classifiers that failed, by cause.',
    labels: { provider, cause: providerCauses },
  });
  return {
    meter: createCheckMeter(metrics),
    tally: createRuleTally(metrics),
    providerFailed: (name, cause) => failures.add({ provider: name, cause }),
  };
}

function createCheckMeter(metrics: Metrics): CheckMeter {
  const checks = metrics.counter({
    name: 'portcullis_runtime_checks_total',
    help: 'Completed and failed checks of loaded policies, by decision.',
    labels: { stage: stages, decision: decisions, policy },
  });
  const errors = metrics.counter({
    name: 'portcullis_runtime_errors_total',
    help: 'Error answers by code, including refusals before the rules run.',
    labels: { stage: stages, code: codes },
  });
  const duration = metrics.histogram({
    name: 'portcullis_runtime_check_duration_seconds',
    help: 'Time from the headers of a check to its answer.',
    labels: { stage: stages },
    buckets,
  });
  const inFlight = metrics.gauge({
    name: 'portcullis_runtime_checks_in_flight',
    help: 'Number of checks that hold a slot.',
    labels: {},
  });
  const overloads = metrics.counter({
    name: 'portcullis_runtime_overloads_total',
    help: 'Refusals because all slots are taken: of body reads, of checks, or of provider calls of observe rules.',
    labels: { part: parts },
  });
  const held = inFlight.series({});
  const times = { request: duration.series({ stage: 'request' }), response: duration.series({ stage: 'response' }) };
  const decided = { request: new Map<string, DecisionSeries>(), response: new Map<string, DecisionSeries>() };

  function seriesOf(stage: Stage, policyId: string): DecisionSeries {
    const known = decided[stage].get(policyId);
    if (known !== undefined) return known;
    const of = (decision: (typeof decisions)[number]): CountedSeries =>
      checks.series({ stage, decision, policy: policyId });
    const made = { pass: of('pass'), mask: of('mask'), deny: of('deny'), failed: of('failed') };
    decided[stage].set(policyId, made);
    return made;
  }

  return {
    decided(stage, policyId, decision, ms) {
      seriesOf(stage, policyId)[decision].add();
      times[stage].observe(ms / 1_000);
    },
    refused: (stage, code) => errors.add({ stage, code }),
    overloaded: (part) => overloads.add({ part }),
    slotTaken: () => held.add(1),
    slotFreed: () => held.add(-1),
  };
}

type CountedSeries = { add(value?: number): void };
/**
 * The metric series of one policy and stage; only policies of the bundle have decisions, so that the number of series
 * is bounded.
 */
type DecisionSeries = Readonly<Record<(typeof decisions)[number], CountedSeries>>;

function createRuleTally(metrics: Metrics): RuleTally {
  const firings = metrics.counter({
    name: 'portcullis_runtime_rule_firings_total',
    help: 'Checks in which a rule matched or its provider denied.',
    labels: { policy, stage: stages, rule, mode: modes },
  });
  const failures = metrics.counter({
    name: 'portcullis_runtime_rule_errors_total',
    help: 'Checks in which a rule failed.',
    labels: { policy, stage: stages, rule, mode: modes, code: codes },
  });
  const series = new WeakMap<CompiledRule, CountedSeries>();

  function firingsOf(rule: CompiledRule): CountedSeries {
    const known = series.get(rule);
    if (known !== undefined) return known;
    const { policyId, stage, id, mode } = rule;
    const made = firings.series({ policy: policyId, stage, rule: id, mode });
    series.set(rule, made);
    return made;
  }

  return {
    fired: (rule) => firingsOf(rule).add(),
    failed: ({ policyId, stage, id, mode }, code) => failures.add({ policy: policyId, stage, rule: id, mode, code }),
  };
}
