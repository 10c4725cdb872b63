import { batchMessages, checkBytes } from '../batch-messages.ts';
import type { CheckOutcome, FailedCheck } from '../check-outcome.ts';
import { cutsOf, pieceFrom, type TextPiece } from './divide-text.ts';

type Bounds = { readonly maxMessages: number; readonly maxBodyBytes: number };

/** Judges messages in one check, each text by itself. */
export type AskGuard = (texts: readonly string[]) => Promise<CheckOutcome>;

type JudgedTexts =
  /** The texts that the policy allows, masked if it masks them. */
  | { readonly kind: 'passed'; readonly texts: readonly string[] }
  | { readonly kind: 'denied' }
  | { readonly kind: 'failed'; readonly check: FailedCheck }
  /** The text at this place cannot be divided into pieces that can be judged. */
  | { readonly kind: 'indivisible'; readonly index: number };

type Judged<T> = { readonly kind: 'passed'; readonly value: T } | Exclude<JudgedTexts, { kind: 'passed' }>;

/** The smallest size of a piece, in bytes of its check, into which a text with many masks is divided. */
const leastPieceBytes = 4_096;
/** Most places that are tried for a cut between masks. */
const maxCuts = 16;
/** Failures of a check that has too many masks: smaller checks have fewer. */
const tooMany: ReadonlySet<string> = new Set(['match_limit', 'output_too_large']);

/**
 * Judges texts of any length by checks within the bounds. Texts that fit into a check are judged whole, several together;
 * a longer one in overlapping pieces whose masks together are those of the whole text
 * (`docs/design/retrieval-guard.md`). A text is never shortened, and the first deny or failure decides for all.
 */
export async function judgeTexts(ask: AskGuard, texts: readonly string[], bounds: Bounds): Promise<JudgedTexts> {
  const passed = [...texts];
  const whole: Unit[] = [];
  for (const [index, content] of texts.entries()) {
    if (content === '') continue;
    const unit = { role, content, index };
    if (checkBytes(unit) <= bounds.maxBodyBytes) whole.push(unit);
    else {
      const judged = await judgeLong(ask, content, index, bounds.maxBodyBytes);
      if (judged.kind !== 'passed') return judged;
      passed[index] = judged.value;
    }
  }
  for (const batch of batchMessages(whole, bounds)) {
    const judged = await judgeBatch(ask, batch, bounds);
    if (judged.kind !== 'passed') return judged;
    for (const [place, { index }] of batch.entries()) passed[index] = judged.value[place] ?? '';
  }
  return { kind: 'passed', texts: passed };
}

const role = 'user';
type Unit = { readonly role: string; readonly content: string; readonly index: number };

/**
 * Judges texts that fit into one check. If they have more masks than a check may have, they are judged one by one, and
 * then in pieces.
 */
async function judgeBatch(ask: AskGuard, batch: readonly Unit[], bounds: Bounds): Promise<Judged<readonly string[]>> {
  const contents = batch.map(({ content }) => content);
  const judged = settle(await ask(contents), contents);
  if (judged.kind !== 'failed' || !tooMany.has(judged.check.code)) return judged;
  const value: string[] = [];
  for (const { content, index } of batch) {
    const one = await judgeLong(ask, content, index, bounds.maxBodyBytes);
    if (one.kind !== 'passed') return one;
    value.push(one.value);
  }
  return { kind: 'passed', value };
}

async function judgeLong(ask: AskGuard, text: string, index: number, maxBytes: number): Promise<Judged<string>> {
  let masked = '';
  let start = 0;
  let bytes = maxBytes;
  while (start < text.length) {
    const limit = bytes;
    const fits = (piece: TextPiece): boolean =>
      checkBytes({ role, content: text.slice(piece.start, piece.end) }) <= limit;
    const piece = pieceFrom(text, start, { most: limit, fits });
    if (piece === undefined) return { kind: 'indivisible', index };
    const step = await judgePiece(ask, text, piece);
    // A shorter piece has fewer masks, and is cut at other places.
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
 * Judges one piece and finds where the next one begins: at a place that no mask of this piece spans. No mask spans it
 * if the masked parts together equal the masked piece.
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
