import type { CheckFailureCode } from '#contracts/checks';

/** No configured rule denied the text, and none replaces anything in it (`guardrail:pass:meaning`). */
export type Passed = { readonly kind: 'pass' };

/** The text may go on with these contents instead, one per message and in their order (`guardrail:mask:keeps-count`). */
export type Masked = {
  readonly kind: 'mask';
  readonly contents: readonly string[];
  /** Ids of the rules that replaced something, in the order in which they ran. */
  readonly rules: readonly string[];
  /** What stands in the contents now and did not before. */
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

/** What the rules say about one set of messages: pass or mask, deny, failed. Failed is never read as one of the others. */
export type Decision = Passed | Masked | Denied | Failed;

export const passed: Passed = { kind: 'pass' };

export function denied(rule: string): Denied {
  return { kind: 'deny', rule };
}

export function failed(code: CheckFailureCode, rule?: string): Failed {
  return rule === undefined ? { kind: 'failed', code } : { kind: 'failed', code, rule };
}
