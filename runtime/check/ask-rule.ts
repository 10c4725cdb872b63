import { withTimeout } from '#kit/concurrency/abort';
import type { Clock } from '#kit/time/clock';
import type { CompiledRule, Question, Verdict } from '../rules/compiled-section.ts';

/** The deadline of a provider call on the monotonic clock, and whether the rule or the stage has timed out then. */
type Allowance = { readonly ms: number; readonly code: 'rule_timeout' | 'stage_timeout' };

/**
 * Asks the provider of a rule within the timeout of the rule and, if a deadline is given, within the deadline of the
 * stage. After the timeout of the rule the failure is rule_timeout, after the deadline of the stage it is
 * stage_timeout.
 */
export async function askRule(
  rule: CompiledRule,
  question: Question,
  time: { readonly clock: Clock; readonly deadline: number; readonly signal: AbortSignal | undefined },
): Promise<Verdict> {
  if (rule.effect.kind !== 'ask') throw new TypeError('a provider call was requested for a rule without a provider');
  const started = time.clock.now();
  const allowance = allowanceOf(rule, time.deadline - started);
  if (allowance.ms <= 0) return { kind: 'failed', code: 'stage_timeout' };
  using timeout = withTimeout(time.signal, allowance.ms);
  const verdict = await rule.effect.ask(question, timeout.signal);
  const took = time.clock.now() - started;
  if (!timeout.timedOut() && took <= allowance.ms) return verdict;
  return { kind: 'failed', code: allowance.code, cause: 'timeout' };
}

function allowanceOf(rule: CompiledRule, left: number): Allowance {
  return rule.timeoutMs < left ? { ms: rule.timeoutMs, code: 'rule_timeout' } : { ms: left, code: 'stage_timeout' };
}
