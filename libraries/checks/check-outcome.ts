import { type CheckErrorCode, checkErrors } from '#contracts/checks';

/** Failures that the client finds by itself, beside the codes that a runtime answers with. */
export const clientFailures = {
  timeout: 'The check did not end within its budget.',
  aborted: 'The caller gave the check up.',
  network: 'The runtime could not be reached, or the connection broke before the answer was complete.',
  no_address: 'No process runs the policy.',
  no_token: 'The token for the runtime cannot be read.',
  redirected: 'The runtime answered with a redirect, which is never followed.',
  unexpected_status: 'The runtime answered with a status or an error body outside of its contract.',
  invalid_answer: 'The runtime answered with something that is not a complete result.',
  mask_mismatch: 'The runtime answered with a mask of another count, order or role of messages.',
} as const satisfies Record<string, string>;

export type ClientFailureCode = keyof typeof clientFailures;
/** Why a check has no decision: a code of the runtime (document 1, section 7) or a finding of the client. */
export type CheckFailure = CheckErrorCode | ClientFailureCode;

/** A check that has no decision. The action that it protects is forbidden. */
export type FailedCheck = { readonly kind: 'failed'; readonly code: CheckFailure; readonly message: string };

/**
 * What a check came to. `contents` of a mask stand by position for the contents that were sent.
 * `failed` is neither a pass nor a deny: nothing may go on until another check has succeeded.
 */
export type CheckOutcome =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly contents: readonly string[] }
  | { readonly kind: 'deny' }
  | FailedCheck;

/** Our own sentence for the code; what a runtime wrote is never handed on. */
export function failedCheck(code: CheckFailure): FailedCheck {
  return { kind: 'failed', code, message: isClientFailure(code) ? clientFailures[code] : checkErrors[code].meaning };
}

export function isCheckErrorCode(code: string): code is CheckErrorCode {
  return Object.hasOwn(checkErrors, code);
}

function isClientFailure(code: CheckFailure): code is ClientFailureCode {
  return Object.hasOwn(clientFailures, code);
}
