import type { CheckFailureCode } from '#contracts/checks';

/** No configured rule denied the text, and none replaces anything in it (`guardrail:pass:meaning`). */
type Passed = { readonly kind: 'pass' };

/** These contents replace the checked ones, one per message and in their order (`guardrail:mask:keeps-count`). */
export type Masked = {
  readonly kind: 'mask';
  readonly contents: readonly string[];
  /** Ids of the rules that replaced something, in the order in which they ran. */
  readonly rules: readonly string[];
  /** The replacement texts that were inserted. */
  readonly inserted: readonly string[];
};

/** A rule forbids the text. */
export type Denied = { readonly kind: 'deny'; readonly rule: string };

/** The check could not be completed, which forbids the text too (`guardrail:fail-closed:error`). */
export type Failed = {
  readonly kind: 'failed';
  readonly code: CheckFailureCode;
  /** The id of the rule that could not be judged, if one rule is the cause. */
  readonly rule?: string;
};

/** The outcome of a check: pass, mask, deny or failed. Failed is never read as one of the others. */
export type Decision = Passed | Masked | Denied | Failed;

export const passed: Passed = { kind: 'pass' };

export function denied(rule: string): Denied {
  return { kind: 'deny', rule };
}

export function failed(code: CheckFailureCode, rule?: string): Failed {
  return rule === undefined ? { kind: 'failed', code } : { kind: 'failed', code, rule };
}
