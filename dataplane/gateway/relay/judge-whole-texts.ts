import { failureOf } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import type { CheckUnit } from '../chat/check-unit.ts';
import { type ClientError, plainError } from './client-error.ts';
import { planChecks } from './plan-checks.ts';

/** The decision about a whole provider answer. */
export type AnswerVerdict =
  | { readonly kind: 'pass' | 'mask'; readonly bytes: Uint8Array }
  | { readonly kind: 'stop'; readonly error: ClientError; readonly stage: 'none' | 'response' };

/** The texts of a whole answer that are judged. */
type JudgedTexts = {
  readonly texts: readonly CheckUnit[];
  readonly further: readonly CheckUnit[];
};

/** The decision about texts; `cleaned` are all of them after masking, those of the contract first. */
type TextsVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly cleaned: readonly string[] }
  | { readonly kind: 'stop'; readonly error: ClientError };

const role = 'assistant';

/**
 * Judges the texts of a whole answer: those of the contract in one check, further ones in the same check where the limits
 * allow. Rejects only with the reason of the signal.
 */
export async function judgeWholeTexts(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  { texts, further }: JudgedTexts,
  signal: AbortSignal,
): Promise<TextsVerdict> {
  const cleaned: string[] = [];
  let masked = false;
  for (const units of planChecks('response', { texts, further, limits: target, split: false })) {
    const messages = units.map(({ content }) => ({ role, content }));
    const outcome = await checks.check(target, 'response', messages, { mode: 'buffered', signal });
    if (signal.aborted) throw signal.reason;
    switch (outcome.kind) {
      case 'deny':
        return { kind: 'stop', error: plainError('policy_denied') };
      case 'failed':
        return { kind: 'stop', error: { kind: 'check_failed', ...failureOf(outcome) } };
      case 'pass':
        cleaned.push(...messages.map(({ content }) => content));
        break;
      case 'mask':
        cleaned.push(...outcome.contents);
        masked = true;
        break;
    }
  }
  return masked ? { kind: 'mask', cleaned } : { kind: 'pass' };
}
