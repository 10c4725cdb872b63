import type { Stage } from '#contracts/policy';
import { documentOverlap } from '#contracts/served-target';
import { batchMessages, checkBytes } from '../batch-messages.ts';
import type { CheckOutcome, FailedCheck } from '../check-outcome.ts';
import { windowsOf } from '../cut-windows.ts';
import { cutsOf, pieceFrom, type TextPiece } from './divide-text.ts';
import type { LongTexts } from './guard-target.ts';

type Bounds = { readonly maxMessages: number; readonly maxBodyBytes: number };

/** Judges messages in one check, each text independently. */
export type AskGuard = (texts: readonly string[]) => Promise<CheckOutcome>;

type JudgedTexts =
  /** The texts that the policy allows, masked if it masks them. */
  | { readonly kind: 'passed'; readonly texts: readonly string[] }
  | { readonly kind: 'denied' }
  | { readonly kind: 'failed'; readonly check: FailedCheck }
  /** The text at this index is larger than one check, and cannot be divided into parts that can be judged. */
  | { readonly kind: 'indivisible'; readonly index: number };

type Judged<T> = { readonly kind: 'passed'; readonly value: T } | Exclude<JudgedTexts, { kind: 'passed' }>;

/** The smallest size of a piece of a text with many masks, in bytes of its check. */
const leastPieceBytes = 4_096;
/** Maximum number of places that are tried for a split between masks. */
const maxCuts = 16;
/** Failures of a check that has too many masks: a smaller check has fewer masks. */
const tooMany: ReadonlySet<string> = new Set(['match_limit', 'output_too_large']);
/** Failures of a check that has a mask. */
const masking: ReadonlySet<string> = new Set([...tooMany, 'invalid_replacement']);
/** In texts that need more checks than this, the windows are not counted one by one. */
const mostCounted = 1_024;

/** The stage whose checks measure the texts, and the way in which texts that are larger than one check are judged. */
type Reading = { readonly stage: Stage; readonly longTexts: LongTexts };
const stored: Reading = { stage: 'request', longTexts: 'pieces' };

/**
 * Judges texts of any length by checks within the limits. Texts that fit into a check are judged whole, several in one
 * check. A longer text is judged in overlapping pieces whose masks together equal those of the whole text
 * (`docs/design/retrieval-guard.md`), unless `reading` states another way. A text is never shortened, and the first
 * deny or failure decides about all texts.
 */
export async function judgeTexts(
  ask: AskGuard,
  texts: readonly string[],
  bounds: Bounds,
  reading: Reading = stored,
): Promise<JudgedTexts> {
  const { stage, longTexts } = reading;
  const judgeLong = longJudges[longTexts];
  const passed = [...texts];
  const whole: Unit[] = [];
  for (const [index, content] of texts.entries()) {
    if (content === '') continue;
    const unit = { role: roles[stage], content, index };
    if (checkBytes(unit, stage) <= bounds.maxBodyBytes) whole.push(unit);
    else {
      const judged = await judgeLong(ask, unit, bounds);
      if (judged.kind !== 'passed') return judged;
      passed[index] = judged.value;
    }
  }
  for (const batch of batchMessages(whole, bounds, stage)) {
    const judged = await judgeBatch(ask, batch, bounds, reading);
    if (judged.kind !== 'passed') return judged;
    for (const [place, { index }] of batch.entries()) passed[index] = judged.value[place] ?? '';
  }
  return { kind: 'passed', texts: passed };
}

const role = 'user';
const roles: Readonly<Record<Stage, string>> = { request: role, response: 'assistant' };
type Unit = { readonly role: string; readonly content: string; readonly index: number };
type JudgeLong = (ask: AskGuard, unit: Unit, bounds: Bounds) => Promise<Judged<string>>;

const longJudges: Readonly<Record<LongTexts, JudgeLong>> = {
  pieces: judgeInPieces,
  windows: judgeInWindows,
  refused: async (_ask, { index }) => ({ kind: 'indivisible', index }),
};

/**
 * The minimum number of checks that `judgeTexts` needs for texts. Pieces are counted without regard to the places at
 * which a text may be split, windows are counted exactly up to `mostCounted`, and a text that cannot be divided counts
 * as one check.
 */
export function leastChecks(texts: readonly string[], bounds: Bounds, { stage, longTexts }: Reading): number {
  const units = texts.filter((text) => text !== '').map((content) => ({ role: roles[stage], content }));
  const isLong = (unit: (typeof units)[number]): boolean => checkBytes(unit, stage) > bounds.maxBodyBytes;
  const whole = units.filter((unit) => !isLong(unit));
  const parts = units.filter(isLong).reduce((sum, { content }) => sum + leastParts[longTexts](content, bounds), 0);
  return batchMessages(whole, bounds, stage).length + parts;
}

const leastParts: Readonly<Record<LongTexts, (text: string, bounds: Bounds) => number>> = {
  pieces: (text, { maxBodyBytes }) => leastPieces(text, maxBodyBytes),
  windows(text, bounds) {
    const least = Math.ceil(Buffer.byteLength(text) / bounds.maxBodyBytes);
    return least > mostCounted ? least : (windowBatches(text, bounds)?.length ?? 1);
  },
  refused: () => 1,
};

/**
 * Minimum number of pieces of a text, each with the overlap of the previous one, which is counted in UTF-16 units. A
 * text that cannot be divided counts as one piece, because its own error names its size and the limit.
 */
export function leastPieces(text: string, maxBodyBytes: number): number {
  const wrapping = checkBytes({ role, content: '' });
  const bytes = checkBytes({ role, content: text }) - wrapping;
  const overlap = documentOverlap * (bytes / text.length);
  const step = maxBodyBytes - wrapping - overlap;
  return step <= 0 ? 1 : Math.ceil((bytes - overlap) / step);
}

/**
 * Judges texts that fit into one check. If they have more masks than a check may have, they are judged one by one, and
 * then in pieces if pieces are allowed.
 */
async function judgeBatch(
  ask: AskGuard,
  batch: readonly Unit[],
  bounds: Bounds,
  { longTexts }: Reading,
): Promise<Judged<readonly string[]>> {
  const contents = batch.map(({ content }) => content);
  const judged = settle(await ask(contents), contents);
  if (judged.kind !== 'failed' || !tooMany.has(judged.check.code)) return judged;
  if (longTexts !== 'pieces' && batch.length === 1) return judged;
  const value: string[] = [];
  for (const unit of batch) {
    const one = longTexts === 'pieces' ? await judgeInPieces(ask, unit, bounds) : await judgeOne(ask, unit.content);
    if (one.kind !== 'passed') return one;
    value.push(one.value);
  }
  return { kind: 'passed', value };
}

/**
 * Judges a text in the windows of a stream, several windows in one check. A mask counts as a deny, because it may begin
 * in the previous window.
 */
async function judgeInWindows(ask: AskGuard, { content, index }: Unit, bounds: Bounds): Promise<Judged<string>> {
  const batches = windowBatches(content, bounds);
  if (batches === undefined) return { kind: 'indivisible', index };
  for (const batch of batches) {
    const outcome = await ask(batch.map((window) => window.content));
    if (outcome.kind === 'mask' || outcome.kind === 'deny') return { kind: 'denied' };
    if (outcome.kind === 'failed')
      return masking.has(outcome.code) ? { kind: 'denied' } : { kind: 'failed', check: outcome };
  }
  return { kind: 'passed', value: content };
}

/** The windows of a text in checks; undefined for a text that is not well-formed Unicode. */
function windowBatches(text: string, bounds: Bounds): ReturnType<typeof batchMessages> | undefined {
  const windows = windowsOf(text)?.map((content) => ({ role: roles.response, content }));
  return windows === undefined ? undefined : batchMessages(windows, bounds, 'response');
}

async function judgeInPieces(
  ask: AskGuard,
  { content: text, index }: Unit,
  { maxBodyBytes }: Bounds,
): Promise<Judged<string>> {
  let masked = '';
  let start = 0;
  let bytes = maxBodyBytes;
  while (start < text.length) {
    const limit = bytes;
    const fits = (piece: TextPiece): boolean =>
      checkBytes({ role, content: text.slice(piece.start, piece.end) }) <= limit;
    const piece = pieceFrom(text, start, { most: limit, fits });
    if (piece === undefined) return { kind: 'indivisible', index };
    const step = await judgePiece(ask, text, piece);
    // A shorter piece has fewer masks, and is split at other places.
    const isTooLarge = step.kind === 'no_cut' || (step.kind === 'failed' && tooMany.has(step.check.code));
    if (isTooLarge && bytes / 2 >= leastPieceBytes) {
      bytes /= 2;
      continue;
    }
    if (step.kind === 'no_cut') return { kind: 'indivisible', index };
    if (step.kind !== 'passed') return step;
    masked += step.value.text;
    start = step.value.next;
  }
  return { kind: 'passed', value: masked };
}

type Step = { readonly text: string; readonly next: number };

/**
 * Judges one piece and finds where the next piece begins: at a place that no mask of this piece spans. No mask spans a
 * place if the masked parts before and after it together equal the masked piece.
 */
async function judgePiece(ask: AskGuard, text: string, piece: TextPiece): Promise<Judged<Step> | { kind: 'no_cut' }> {
  const content = text.slice(piece.start, piece.end);
  const judged = await judgeOne(ask, content);
  if (judged.kind !== 'passed') return judged;
  const masked = judged.value;
  if (piece.end === text.length) return { kind: 'passed', value: { text: masked, next: piece.end } };
  let tried = 0;
  for (const cut of cutsOf(text, piece)) {
    const part = text.slice(piece.start, cut);
    if (masked === content) return { kind: 'passed', value: { text: part, next: cut } };
    const before = await judgeOne(ask, part);
    if (before.kind !== 'passed') return before;
    const after = await judgeOne(ask, text.slice(cut, piece.end));
    if (after.kind !== 'passed') return after;
    if (before.value + after.value === masked) return { kind: 'passed', value: { text: before.value, next: cut } };
    tried += 1;
    if (tried === maxCuts) break;
  }
  return { kind: 'no_cut' };
}

async function judgeOne(ask: AskGuard, content: string): Promise<Judged<string>> {
  const judged = settle(await ask([content]), [content]);
  return judged.kind === 'passed' ? { kind: 'passed', value: judged.value[0] ?? '' } : judged;
}

function settle(outcome: CheckOutcome, contents: readonly string[]): Judged<readonly string[]> {
  switch (outcome.kind) {
    case 'pass':
      return { kind: 'passed', value: contents };
    case 'mask':
      return { kind: 'passed', value: outcome.contents };
    case 'deny':
      return { kind: 'denied' };
    case 'failed':
      return { kind: 'failed', check: outcome };
  }
}
