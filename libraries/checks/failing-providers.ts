import type { Stage } from '#contracts/policy';
import type { ProviderCause } from '#contracts/provider-causes';
import type { Clock } from '#kit/time/clock';
import type { CheckOutcome } from './check-outcome.ts';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';

/** A detector or classifier that did not judge for a rule, and why. */
export type FailingProvider = { readonly rule: string; readonly provider: string; readonly cause: ProviderCause };

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
      const { rule, provider } = outcome;
      if (rule === undefined || provider === undefined) return;
      faults.set(key, { fault: { rule, provider: provider.name, cause: provider.cause }, at: clock.now() });
      return;
    }
    // A deny of another rule can come before the provider is asked.
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
