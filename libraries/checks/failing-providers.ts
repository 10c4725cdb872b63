import type { FailingProvider } from '#contracts/failing-provider';
import type { Stage } from '#contracts/policy';
import type { Clock } from '#kit/time/clock';
import { type CheckOutcome, failingProviderOf } from './check-outcome.ts';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';

/** How long a failure is reported after the last check that showed it, milliseconds. */
const shownMs = 300_000;

/**
 * A check client that records which detectors and classifiers returned no judgement. An entry is removed when a check
 * shows that the provider judges again, or when no check has shown the failure for five minutes. A stage of a policy
 * has one entry, because the first failure ends a check.
 */
export function noteFailingProviders(checks: Pick<CheckClient, 'check'>, clock: Pick<Clock, 'now'>) {
  const faults = new Map<string, { readonly fault: FailingProvider; readonly at: number }>();

  function note(target: CheckTarget, stage: Stage, outcome: CheckOutcome): void {
    const key = `${stage} ${target.policyId}`;
    if (outcome.kind === 'failed') {
      const fault = failingProviderOf(outcome);
      if (fault !== undefined) faults.set(key, { fault, at: clock.now() });
      return;
    }
    // Another rule may deny a text before the provider is called.
    const isAnswered = outcome.kind !== 'deny' || outcome.rule === faults.get(key)?.fault.rule;
    if (isAnswered) faults.delete(key);
  }

  return {
    async check(...call: Parameters<CheckClient['check']>): Promise<CheckOutcome> {
      const outcome = await checks.check(...call);
      note(call[0], call[1], outcome);
      return outcome;
    },
    /** The present failures, each once, in a fixed order. */
    failing(): readonly FailingProvider[] {
      const present = [...faults.values()].filter(({ at }) => clock.now() - at < shownMs);
      const byText = new Map(present.map(({ fault }) => [`${fault.provider} ${fault.rule} ${fault.cause}`, fault]));
      return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, fault]) => fault);
    },
  };
}
