import type { FailedCheck } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import type { Edit } from '#kit/json/splice';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskEdits } from '../chat/rewrite-body.ts';
import { type ClientError, plainError } from './client-error.ts';

/** The decision about a request: forward it with these edits, or refuse it. */
type InputVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly edits: readonly Edit[] }
  | { readonly kind: 'stop'; readonly error: ClientError };

/**
 * Judges the texts of a request, each batch as one check, in order (`gateway:input:deny-non-stream`,
 * `gateway:input:mask-non-stream`). The first deny or failure decides for all of them. Rejects only with the reason of
 * the signal.
 */
export async function guardInput(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  batches: readonly (readonly CheckUnit[])[],
  signal: AbortSignal,
): Promise<InputVerdict> {
  const edits: Edit[] = [];
  let masked = false;
  for (const units of batches) {
    const messages = units.map(({ role, content }) => ({ role, content }));
    const outcome = await checks.check(target, 'request', messages, { signal });
    if (signal.aborted) throw signal.reason;
    switch (outcome.kind) {
      case 'pass':
        break;
      case 'mask': {
        const changes = maskEdits(units, outcome.contents, edits);
        if (changes.kind === 'mismatch')
          return { kind: 'stop', error: { kind: 'check_failed', code: 'mask_mismatch' } };
        if (changes.kind === 'unmaskable') return { kind: 'stop', error: plainError('policy_denied') };
        edits.push(...changes.edits);
        masked = true;
        break;
      }
      case 'deny':
        return { kind: 'stop', error: plainError('policy_denied') };
      case 'failed':
        return { kind: 'stop', error: inputFailure(outcome, units.length === 1) };
    }
  }
  return masked ? { kind: 'mask', edits } : { kind: 'pass' };
}

/** A request over a limit is an error of its client; every other failure is one of the check. */
function inputFailure({ code, excess }: FailedCheck, isOneText: boolean): ClientError {
  return excess === undefined ? { kind: 'check_failed', code } : { kind: 'too_long', code, excess, isOneText };
}
