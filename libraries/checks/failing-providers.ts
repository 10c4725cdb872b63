import type { FailingProvider } from '#contracts/failing-provider';
import type { Stage } from '#contracts/policy';
import type { Clock } from '#kit/time/clock';
import { type CheckOutcome, failingProviderOf } from './check-outcome.ts';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';

/** How long a failure is reported after the last check that showed it, milliseconds. */
const shownMs = 300_000;

/**
 * A check client that remembers which detectors and classifiers did not judge, until a check shows that they judge again,
 * or none has shown it for five minutes. One entry for each stage of a policy: the first fault ends a check.
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
    // A deny of another rule can come before the provider is called.
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
