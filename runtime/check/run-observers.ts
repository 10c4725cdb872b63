import type { Clock } from '#kit/time/clock';
import type { CompiledRule, Question } from '../rules/compiled-section.ts';
import { askRule } from './ask-rule.ts';
import type { CheckMeter, Observers, RuleTally } from './ports.ts';

/**
 * Observers with a limit on provider calls in flight in this process. A call ends at the timeout of its rule; aborting
 * `signal` ends all calls.
 */
export function createObservers(options: {
  readonly clock: Clock;
  readonly tally: RuleTally;
  readonly meter: Pick<CheckMeter, 'overloaded'>;
  readonly cap: number;
  readonly signal: AbortSignal;
}): Observers & { readonly inFlight: () => number } {
  const { clock, tally, meter, cap, signal } = options;
  let inFlight = 0;

  async function observe(rule: CompiledRule, question: Question): Promise<void> {
    try {
      const verdict = await askRule(rule, question, { clock, deadline: Number.POSITIVE_INFINITY, signal });
      switch (verdict.kind) {
        case 'allow':
          return;
        case 'deny':
          return tally.fired(rule);
        case 'failed':
          return tally.failed(rule, verdict.code);
      }
    } catch {
      tally.failed(rule, 'internal');
    } finally {
      inFlight -= 1;
    }
  }

  return {
    start(rule, question) {
      if (inFlight >= cap) {
        meter.overloaded('observers');
        return tally.failed(rule, 'overloaded');
      }
      inFlight += 1;
      void observe(rule, question);
    },
    inFlight: () => inFlight,
  };
}
