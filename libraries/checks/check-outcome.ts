import { type CheckErrorCode, checkErrors } from '#contracts/checks';
import type { FailingProvider } from '#contracts/failing-provider';
import type { ProviderCause } from '#contracts/provider-causes';

/** Failures that the check client reports, in addition to the codes of the runtime. */
export const clientFailures = {
  timeout: 'The check did not end before its deadline.',
  aborted: 'The caller aborted the check.',
  network: 'The runtime could not be reached, or the connection broke before the answer was complete.',
  no_address: 'The workload of the policy has no address.',
  no_token: 'The token for the runtime cannot be read.',
  redirected: 'The runtime answered with a redirect, which is never followed.',
  unexpected_status: 'The runtime answered with a status or error body that its contract does not have.',
  invalid_answer: 'The answer of the runtime is not a complete result.',
  mask_mismatch: 'The mask of the runtime has another count, order or role of messages than the request.',
} as const satisfies Record<string, string>;

type ClientFailureCode = keyof typeof clientFailures;
/** Why a check has no decision: a code of the runtime or of the check client. */
export type CheckFailure = CheckErrorCode | ClientFailureCode;

/** A check that has no decision. The action that it protects is forbidden. */
export type FailedCheck = Explained & {
  readonly kind: 'failed';
  readonly code: CheckFailure;
  readonly message: string;
  /** The exceeded limit; present if the check was not sent because it would exceed a limit. */
  readonly excess?: Excess;
  /** The detector or classifier of the rule did not judge. Present if the client requests it. */
  readonly provider?: FailedProvider;
};

/** The name of a detector or classifier in its bundle, and the reason why it returned no judgement. */
export type FailedProvider = { readonly name: string; readonly cause: ProviderCause };

/** The size that a check would have, and its limit: number of messages, or bytes of the body. */
export type Excess = { readonly count: number; readonly limit: number };

/** `rule` is the id of the rule that decided, if the client requests it and the runtime returns it. */
type Explained = { readonly rule?: string };

/**
 * The result of a check. `contents` of a mask replace the contents that were sent, by position.
 * `failed` is neither a pass nor a deny: the protected action is forbidden until a check succeeds.
 */
export type CheckOutcome =
  | { readonly kind: 'pass' }
  | (Explained & { readonly kind: 'mask'; readonly contents: readonly string[] })
  | (Explained & { readonly kind: 'deny' })
  | FailedCheck;

/** Failures that the texts and the policy cause together: a later check of the same texts fails, too. */
export const lastingFailures = [
  'match_limit',
  'output_too_large',
  'invalid_replacement',
  'body_too_large',
] as const satisfies readonly CheckErrorCode[];

export function isLasting({ code }: Pick<FailedCheck, 'code'>): boolean {
  return lastingFailures.some((one) => one === code);
}

/** The failure for a code, with its message from the tables here; a message from a runtime is never used. */
export function failedCheck(code: CheckFailure): FailedCheck {
  return { kind: 'failed', code, message: isClientFailure(code) ? clientFailures[code] : checkErrors[code].meaning };
}

/** The part of a failed check that a caller receives. */
export function failureOf({ code, excess }: FailedCheck): Pick<FailedCheck, 'code' | 'excess'> {
  return excess === undefined ? { code } : { code, excess };
}

/** The detector or classifier that did not judge; undefined where the failure has another cause. */
export function failingProviderOf({ rule, provider }: FailedCheck): FailingProvider | undefined {
  if (rule === undefined || provider === undefined) return undefined;
  return { rule, provider: provider.name, cause: provider.cause };
}

export function isCheckErrorCode(code: string): code is CheckErrorCode {
  return Object.hasOwn(checkErrors, code);
}

function isClientFailure(code: CheckFailure): code is ClientFailureCode {
  return Object.hasOwn(clientFailures, code);
}
