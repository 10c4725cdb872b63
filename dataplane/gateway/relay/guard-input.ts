import { checkBytes } from '#checks/batch-messages';
import { type FailedCheck, failedCheck } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import { leastPieces } from '#checks/guard/judge-texts';
import type { Edit } from '#kit/json/splice';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maskEdits } from '../chat/rewrite-body.ts';
import { maxChecks, maxChecksWithMasks } from '../chat/text-bounds.ts';
import { type ClientError, plainError } from './client-error.ts';
import { judgeLongText } from './judge-long-text.ts';
import { type JudgedText, settleMasks } from './settle-masks.ts';

/** The decision about a request: forward it with these edits, or refuse it. */
type InputVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly edits: readonly Edit[] }
  | { readonly kind: 'stop'; readonly error: ClientError };

/**
 * Judges the texts of a request, each batch as one check, in order (`gateway:input:deny-non-stream`,
 * `gateway:input:mask-non-stream`). The first deny or failure decides about the whole request. The masks of all batches
 * are applied to the body together, because texts of several batches can be in one string of the body. A request that
 * needs more than `maxChecks` checks is refused before the first check; a request whose masks need more than
 * `maxChecksWithMasks` checks is refused after that many checks. Rejects only with the reason of the signal.
 * @param long texts that are larger than one check and are judged in pieces
 */
export async function guardInput(
  checks: Checks,
  target: CheckTarget,
  batches: readonly (readonly CheckUnit[])[],
  signal: AbortSignal,
  long: readonly CheckUnit[] = [],
): Promise<InputVerdict> {
  const pieces = long.reduce((sum, unit) => sum + leastPieces(unit.content, target.maxBodyBytes), 0);
  if (batches.length + pieces > maxChecks) return tooMany;
  let made = 0;
  const counted: Checks = {
    check: async (...call) => {
      made += 1;
      return made > maxChecksWithMasks ? failedCheck('overloaded') : checks.check(...call);
    },
  };
  const verdict = await judgeInput(counted, target, batches, signal, long);
  return made > maxChecksWithMasks ? tooMany : verdict;
}

type Checks = Pick<CheckClient, 'check'>;

const tooMany = { kind: 'stop', error: plainError('too_many_checks') } as const;

async function judgeInput(
  checks: Checks,
  target: CheckTarget,
  batches: readonly (readonly CheckUnit[])[],
  signal: AbortSignal,
  long: readonly CheckUnit[],
): Promise<InputVerdict> {
  const cleaned: string[] = [];
  const isOver = (unit: CheckUnit): boolean => checkBytes(unit) > target.maxBodyBytes;
  let masked = false;
  for (const units of batches) {
    const messages = units.map(({ role, content }) => ({ role, content }));
    const outcome = await checks.check(target, 'request', messages, { signal });
    if (signal.aborted) throw signal.reason;
    switch (outcome.kind) {
      case 'pass':
        cleaned.push(...units.map(({ content }) => content));
        break;
      case 'mask':
        if (outcome.contents.length !== units.length) return mismatch;
        cleaned.push(...outcome.contents);
        masked = true;
        break;
      case 'deny':
        return { kind: 'stop', error: plainError('policy_denied') };
      case 'failed':
        return { kind: 'stop', error: inputFailure(outcome, units.length === 1 || units.some(isOver)) };
    }
  }
  for (const unit of long) {
    const verdict = await judgeLongText(checks, target, unit, signal);
    if (verdict.kind === 'stop') return verdict;
    cleaned.push(verdict.content);
    masked ||= verdict.content !== unit.content;
  }
  if (!masked) return { kind: 'pass' };
  const units = [...batches.flat(), ...long];
  const judgeAgain = async (unit: CheckUnit, content: string): Promise<JudgedText> => {
    if (long.includes(unit)) {
      const verdict = await judgeLongText(checks, target, { ...unit, content }, signal);
      return verdict.kind === 'stop' ? verdict : { kind: 'judged', content: verdict.content };
    }
    const outcome = await checks.check(target, 'request', [{ role: unit.role, content }], { signal });
    if (signal.aborted) throw signal.reason;
    switch (outcome.kind) {
      case 'pass':
        return { kind: 'judged', content };
      case 'mask':
        return outcome.contents.length === 1 ? { kind: 'judged', content: outcome.contents[0] ?? '' } : mismatch;
      case 'deny':
        return { kind: 'stop', error: plainError('policy_denied') };
      case 'failed':
        return { kind: 'stop', error: inputFailure(outcome, true) };
    }
  };
  const settled = await settleMasks(units, cleaned, judgeAgain);
  return settled.kind === 'stop' ? settled : maskInput(units, settled.contents);
}

const mismatch = { kind: 'stop', error: { kind: 'check_failed', code: 'mask_mismatch' } } as const;

function maskInput(units: readonly CheckUnit[], cleaned: readonly string[]): InputVerdict {
  const changes = maskEdits(units, cleaned);
  switch (changes.kind) {
    case 'mismatch':
      return mismatch;
    case 'unmaskable':
      return { kind: 'stop', error: plainError('policy_denied') };
    case 'edits':
      return { kind: 'mask', edits: changes.edits };
  }
}

/** A request over a limit is an error of its client; every other failure is a failure of the check. */
function inputFailure({ code, excess }: FailedCheck, isOneText: boolean): ClientError {
  return excess === undefined ? { kind: 'check_failed', code } : { kind: 'too_long', code, excess, isOneText };
}
