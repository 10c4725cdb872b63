import { checkBytes } from '#checks/batch-messages';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { judgeTexts } from '#checks/guard/judge-texts';
import type { CheckUnit } from '../chat/check-unit.ts';
import { type ClientError, plainError } from './client-error.ts';

type LongTextVerdict =
  | { readonly kind: 'pass'; readonly content: string }
  | { readonly kind: 'stop'; readonly error: ClientError };

/** The role with which the pieces are measured. */
const role = 'user';

/**
 * Judges a text of a request that is larger than one check, in overlapping pieces. The masks of the pieces together
 * equal those of the whole text. The rules of the request section must allow this. Rejects only with the reason of the
 * signal.
 */
export async function judgeLongText(
  checks: Pick<CheckClient, 'check'>,
  target: CheckTarget,
  unit: CheckUnit,
  signal: AbortSignal,
): Promise<LongTextVerdict> {
  const ask = async (texts: readonly string[]) => {
    const messages = texts.map((content) => ({ role, content }));
    const outcome = await checks.check(target, 'request', messages, { signal });
    if (signal.aborted) throw signal.reason;
    return outcome;
  };
  const judged = await judgeTexts(ask, [unit.content], target);
  switch (judged.kind) {
    case 'passed':
      return { kind: 'pass', content: judged.texts[0] ?? '' };
    case 'denied':
      return { kind: 'stop', error: plainError('policy_denied') };
    case 'failed':
      return { kind: 'stop', error: { kind: 'check_failed', code: judged.check.code } };
    case 'indivisible': {
      const excess = { count: checkBytes(unit), limit: target.maxBodyBytes };
      return { kind: 'stop', error: { kind: 'too_long', code: 'body_too_large', excess, isOneText: true } };
    }
  }
}
