import type { CheckErrorCode, CheckFailureCode } from '#contracts/checks';
import type { Stage } from '#contracts/policy';
import type { Clock } from '#kit/time/clock';
import type { CompiledRule, Question } from '../rules/compiled-section.ts';
import type { Decision } from '../rules/decision.ts';

/** Counts matches and failures of rules, including observe rules. Never throws, and no decision depends on it. */
export type RuleTally = {
  /** The rule matched, or its provider denied; once per check. */
  fired(rule: CompiledRule): void;
  /** The rule could not be judged; once per check. */
  failed(rule: CompiledRule, code: CheckFailureCode): void;
};

/** Resources with slots: body reads, checks, and provider calls of observe rules. */
export type OverloadedPart = 'bodies' | 'checks' | 'observers';

/** Counts checks and refusals. Never throws, and no decision depends on it. */
export type CheckMeter = {
  /** A check of a policy ended; once per check. `ms` is the time since its headers arrived. */
  decided(stage: Stage, policyId: string, decision: Decision['kind'], ms: number): void;
  /** An error was answered. */
  refused(stage: Stage, code: CheckErrorCode): void;
  overloaded(part: OverloadedPart): void;
  slotTaken(): void;
  slotFreed(): void;
};

/** Runs the provider calls of observe rules in the background (`guardrail:observe:no-block`). */
export type Observers = {
  /**
   * Starts the call and returns immediately; the outcome is only counted. A call over the limit of calls in flight is not
   * sent and counts as an error of its rule. Never throws.
   */
  start(rule: CompiledRule, question: Question): void;
};

export type CheckPorts = {
  readonly clock: Clock;
  readonly tally: RuleTally;
  readonly observers: Observers;
};
