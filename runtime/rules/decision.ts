import type { CheckFailureCode } from '#contracts/checks';
import type { ProviderCause } from '#contracts/provider-causes';

/** Pass: no configured rule denied the text, and no rule replaces a part of it (`guardrail:pass:meaning`). */
type Passed = { readonly kind: 'pass' };

/**
 * Mask: these contents replace the checked contents, one for each message and in the same order
 * (`guardrail:mask:keeps-count`).
 */
export type Masked = {
  readonly kind: 'mask';
  readonly contents: readonly string[];
  /** Ids of the mask rules that replaced text, in the order in which they ran. */
  readonly rules: readonly string[];
  /** The replacement texts that the mask inserted. */
  readonly inserted: readonly string[];
};

/** Deny: a rule forbids the text. */
export type Denied = { readonly kind: 'deny'; readonly rule: string };

/** Failed: the check could not be completed, which also forbids the text (`guardrail:fail-closed:error`). */
export type Failed = {
  readonly kind: 'failed';
  readonly code: CheckFailureCode;
  /** The id of the rule that could not be judged, if one rule is the cause. */
  readonly rule?: string;
  /** Why the provider of that rule did not judge, and its name. */
  readonly cause?: ProviderCause;
  readonly provider?: string;
};

/** The outcome of a check: pass, mask, deny or failed. A failed check is never treated as one of the other outcomes. */
export type Decision = Passed | Masked | Denied | Failed;

export const passed: Passed = { kind: 'pass' };

export function denied(rule: string): Denied {
  return { kind: 'deny', rule };
}

export function failed(code: CheckFailureCode, rule?: string): Failed {
  return rule === undefined ? { kind: 'failed', code } : { kind: 'failed', code, rule };
}

/** The id of the deciding rule: the rule that denied or failed, or the first rule that replaced a text. */
export function decidingRule(decision: Decision): string | undefined {
  switch (decision.kind) {
    case 'pass':
      return undefined;
    case 'mask':
      return decision.rules[0];
    case 'deny':
    case 'failed':
      return decision.rule;
  }
}
