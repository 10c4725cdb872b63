import { batchMessages, checkBytes } from '#checks/batch-messages';
import { type CheckOutcome, failureOf } from '#checks/check-outcome';
import type { CheckTarget } from '#checks/check-target';
import type { CheckClient } from '#checks/client';
import type { CheckMessage } from '#contracts/checks';
import type { CheckUnit } from '../chat/check-unit.ts';
import { maxChecks } from '../chat/text-bounds.ts';
import { piecesOfText } from '../judged/pieces-of-text.ts';
import type { Coverage } from '../judged/route-coverage.ts';
import { type ClientError, plainError } from './client-error.ts';
import type { HeldTree } from './held-tree.ts';
import { planChecks } from './plan-checks.ts';
import type { JudgedText } from './settle-masks.ts';

/**
 * A whole provider answer. `request`: as it was sent to the provider. `structured`: the request requires JSON.
 * `inWindows`: whether the rules of the policy can judge the windows of a text. `tree`: the memory of the parts that
 * are read from the answer.
 */
export type WholeAnswer = {
  readonly bytes: Uint8Array;
  readonly request: Uint8Array;
  readonly structured: boolean;
  readonly coverage: Coverage;
  readonly inWindows: boolean;
  readonly tree: HeldTree;
};

/** The decision about a whole provider answer. */
export type AnswerVerdict =
  | { readonly kind: 'pass' | 'mask'; readonly bytes: Uint8Array }
  | { readonly kind: 'stop'; readonly error: ClientError; readonly stage: 'none' | 'response' };

/**
 * The judged texts of a whole answer: the texts of the contract, and further texts. `inWindows`: whether the rules of
 * the policy can judge a text in windows, so that a further text may be larger than one check.
 */
type JudgedTexts = {
  readonly texts: readonly CheckUnit[];
  readonly further: readonly CheckUnit[];
  readonly inWindows: boolean;
};

/** The decision about texts; `cleaned` contains all texts after masking, first those of the contract. */
type TextsVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'mask'; readonly cleaned: readonly string[] }
  | { readonly kind: 'stop'; readonly error: ClientError };

type Checks = Pick<CheckClient, 'check'>;

const role = 'assistant';

/**
 * Judges the texts of a whole answer in one check where the limits allow, else in as few checks of whole texts as they allow, those of
 * the contract first. A further text that is larger than one check is judged in windows, where a mask is a deny. Rejects only with the
 * reason of the signal.
 */
export async function judgeWholeTexts(
  checks: Checks,
  target: CheckTarget,
  { texts, further, inWindows }: JudgedTexts,
  signal: AbortSignal,
): Promise<TextsVerdict> {
  const isCut = (unit: CheckUnit): boolean => inWindows && checkBytes(unit, 'response') > target.maxBodyBytes;
  const whole = further.filter((unit) => !isCut(unit));
  const plan = planChecks('response', { texts, further: whole, limits: target, split: true });
  const windows = further
    .filter(isCut)
    .flatMap((unit) => piecesOfText(unit, target.maxBodyBytes).map((content) => ({ role, content })));
  const windowChecks = batchMessages(windows, target, 'response');
  if (plan.length + windowChecks.length > maxChecks) return tooLarge;
  const cleaned = new Map<CheckUnit, string>();
  for (const units of plan) {
    const outcome = await ask(checks, target, units, signal);
    const stopped = stopOf(outcome);
    if (stopped !== undefined) return stopped;
    if (outcome.kind === 'mask')
      for (const [at, unit] of units.entries()) cleaned.set(unit, outcome.contents[at] ?? '');
  }
  for (const messages of windowChecks) {
    const outcome = await ask(checks, target, messages, signal);
    const stopped = outcome.kind === 'mask' ? denied : stopOf(outcome);
    if (stopped !== undefined) return stopped;
  }
  if (cleaned.size === 0) return { kind: 'pass' };
  return { kind: 'mask', cleaned: [...texts, ...further].map((unit) => cleaned.get(unit) ?? unit.content) };
}

/**
 * Judges one text of an answer once more, after masks were applied to it. Rejects only with the reason of the signal.
 */
export async function judgeAgain(
  checks: Checks,
  target: CheckTarget,
  unit: CheckUnit,
  { inWindows }: Pick<WholeAnswer, 'inWindows'>,
  signal: AbortSignal,
): Promise<JudgedText> {
  const verdict = await judgeWholeTexts(checks, target, { texts: [], further: [unit], inWindows }, signal);
  if (verdict.kind === 'stop') return verdict;
  return { kind: 'judged', content: verdict.kind === 'mask' ? (verdict.cleaned[0] ?? '') : unit.content };
}

async function ask(
  checks: Checks,
  target: CheckTarget,
  texts: readonly CheckMessage[],
  signal: AbortSignal,
): Promise<CheckOutcome> {
  const messages = texts.map(({ content }) => ({ role, content }));
  const outcome = await checks.check(target, 'response', messages, { mode: 'buffered', signal });
  if (signal.aborted) throw signal.reason;
  return outcome;
}

const tooLarge = { kind: 'stop', error: plainError('upstream_too_large') } as const;
const denied = { kind: 'stop', error: plainError('policy_denied') } as const;

/** The end of an answer whose check did not pass or mask. */
function stopOf(outcome: CheckOutcome): (TextsVerdict & { readonly kind: 'stop' }) | undefined {
  if (outcome.kind === 'deny') return denied;
  return outcome.kind === 'failed'
    ? { kind: 'stop', error: { kind: 'check_failed', ...failureOf(outcome) } }
    : undefined;
}
