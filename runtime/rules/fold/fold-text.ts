import { isAscii } from 'node:buffer';
import { type Fold, responseSourceBytes } from '#contracts/folds';
import type { Stage } from '#contracts/policy';
import { type ByteRange, type CheckedText, checkedText } from '../checked-text.ts';
import { characterAt } from '../unicode/utf8.ts';
import {
  asMark,
  asRemoved,
  asSequence,
  asSpace,
  type FoldTable,
  foldTable,
  isEuropeanLetter,
  isInvisible,
  isMark,
  tableEnd,
} from './fold-table.ts';

/** How a text is folded. Views with the same key fold in the same way. */
export type FoldView = {
  readonly key: string;
  readonly kinds: ReadonlySet<Fold>;
  /**
   * Maximum number of bytes of the original text that one folded character can represent, including the removed
   * characters after it.
   */
  readonly sourceBytes: number;
};

/** The view of a rule: in the response section, a match has a bound in bytes, because streams are judged in windows. */
export function foldView(kinds: readonly Fold[], stage: Stage): FoldView {
  const sorted = [...new Set(kinds)].sort();
  const sourceBytes = stage === 'request' ? Number.POSITIVE_INFINITY : responseSourceBytes;
  return { key: `${sorted.join()} ${sourceBytes}`, kinds: new Set(sorted), sourceBytes };
}

/** A folded text, and the mapping from its offsets to those of the original text. */
type FoldedText = {
  readonly text: CheckedText;
  /** Returns the range of the original text from which a range of the folded text was made. */
  readonly original: (range: ByteRange) => ByteRange;
};

const blank = 0x20;

/**
 * The folded form of a text; undefined if folding changes nothing, so that there is nothing more to match. The time is
 * linear in the text: each character is read once, and the folded text is never longer.
 */
export function foldText(text: CheckedText, view: FoldView): FoldedText | undefined {
  if (isUnchanged(text, view.kinds)) return undefined;
  const { bytes } = text;
  const folded = Buffer.allocUnsafe(bytes.length);
  const length = fold(bytes, view, folded, undefined);
  const result = folded.subarray(0, length);
  if (result.equals(bytes)) return undefined;
  let places: Places | undefined;
  return {
    text: checkedText(result),
    original({ start, end }) {
      places ??= placesOf(bytes, view);
      return { start: places.starts[start] ?? 0, end: places.ends[end - 1] ?? bytes.length };
    },
  };
}

/** For each byte of the folded text, the range of the original text from which its character was made. */
type Places = { readonly starts: Int32Array; readonly ends: Int32Array };

function placesOf(bytes: Buffer, view: FoldView): Places {
  const places = { starts: new Int32Array(bytes.length), ends: new Int32Array(bytes.length) };
  fold(bytes, view, Buffer.allocUnsafe(bytes.length), places);
  return places;
}

const foldableSpace = /[\t-\r]| {2}/;

function isUnchanged({ bytes, byteString }: CheckedText, kinds: ReadonlySet<Fold>): boolean {
  if (!isAscii(bytes)) return false;
  return !kinds.has('whitespace') || !foldableSpace.test(byteString);
}

/** Writes the folded text into `out`. @returns its length in bytes */
function fold(bytes: Buffer, view: FoldView, out: Buffer, places: Places | undefined): number {
  const table = foldTable(view.kinds);
  const { entries } = table;
  const most = view.sourceBytes;
  const { length } = bytes;
  const writer: Writer = { out, places, at: 0, last: -1, lastStart: 0, from: 0 };
  /** Bytes of the original since the last folded character began. */
  let source = 0;
  for (let at = 0; at < length; ) {
    const read = characterAt(bytes, at);
    const rune = read >> 3;
    const size = read & 7;
    const end = at + size;
    const entry = rune < tableEnd ? (entries[rune] ?? rune) : beyondTable(rune, table);
    source += size;
    if (entry >= 0) write(writer, entry, at, end);
    else if (entry === asSequence) for (const one of table.sequences.get(rune) ?? [rune]) write(writer, one, at, end);
    else if (source <= most && joinLast(writer, table, { entry, rune, end })) {
      at = end;
      continue;
    } else write(writer, entry === asSpace ? blank : rune, at, end);
    source = size;
    at = end;
  }
  return writer.at;
}

function beyondTable(rune: number, { dropsInvisible, joinsMarks }: FoldTable): number {
  if (rune < 0xe0000) return rune;
  if (dropsInvisible && isInvisible(rune)) return asRemoved;
  return joinsMarks && isMark(rune) ? asMark : rune;
}

/**
 * Whether a character becomes a part of the previous character or is removed; in both cases no new character is
 * written.
 */
function joinLast(
  writer: Writer,
  table: FoldTable,
  { entry, rune, end }: { readonly entry: number; readonly rune: number; readonly end: number },
): boolean {
  if (entry === asRemoved) return true;
  if (entry === asSpace && writer.last !== blank) return false;
  const joined = entry === asSpace ? blank : joinMark(table, writer.last, rune);
  if (joined === undefined) return false;
  if (joined === writer.last) extend(writer, end);
  else replaceLast(writer, joined, end);
  return true;
}

/**
 * The character that a base and a mark are together; the base alone where marks are left out; undefined where the mark
 * stays a character.
 */
function joinMark({ composites, entries, dropsMarks }: FoldTable, base: number, accent: number): number | undefined {
  if (base < 0) return undefined;
  const composite = composites.get(base * 0x110000 + accent);
  if (composite !== undefined) {
    const folded = composite < tableEnd ? (entries[composite] ?? composite) : composite;
    return folded >= 0 ? folded : undefined;
  }
  return dropsMarks && isEuropeanLetter(base) ? base : undefined;
}

/** The folded text that was written up to now; its last character begins at `from`. */
type Writer = {
  readonly out: Buffer;
  readonly places: Places | undefined;
  at: number;
  from: number;
  last: number;
  lastStart: number;
};

function write(writer: Writer, rune: number, start: number, end: number): void {
  writer.from = writer.at;
  writer.last = rune;
  writer.lastStart = start;
  put(writer, rune, start, end);
}

/** Extends the range of the last character to the original bytes up to `end`. */
function extend({ places, from, at }: Writer, end: number): void {
  if (places !== undefined) places.ends.fill(end, from, at);
}

function replaceLast(writer: Writer, rune: number, end: number): void {
  writer.at = writer.from;
  writer.last = rune;
  put(writer, rune, writer.lastStart, end);
}

function put(writer: Writer, rune: number, start: number, end: number): void {
  const { out, places } = writer;
  const from = writer.at;
  if (rune < 0x80) out[writer.at++] = rune;
  else if (rune < 0x800) {
    out[writer.at++] = 0xc0 | (rune >> 6);
    out[writer.at++] = 0x80 | (rune & 0x3f);
  } else if (rune < 0x10000) {
    out[writer.at++] = 0xe0 | (rune >> 12);
    out[writer.at++] = 0x80 | ((rune >> 6) & 0x3f);
    out[writer.at++] = 0x80 | (rune & 0x3f);
  } else {
    out[writer.at++] = 0xf0 | (rune >> 18);
    out[writer.at++] = 0x80 | ((rune >> 12) & 0x3f);
    out[writer.at++] = 0x80 | ((rune >> 6) & 0x3f);
    out[writer.at++] = 0x80 | (rune & 0x3f);
  }
  if (places === undefined) return;
  places.starts.fill(start, from, writer.at);
  places.ends.fill(end, from, writer.at);
}

/** The folded form of a term. */
export function foldTerm(term: string, { kinds }: FoldView): string {
  const checked = checkedText(Buffer.from(term, 'utf8'));
  return foldText(checked, foldView([...kinds], 'request'))?.text.bytes.toString('utf8') ?? term;
}

const forms = new WeakMap<CheckedText, Map<string, FoldedText | undefined>>();

/** The result of foldText; each view of a text is computed only once. */
export function foldedForm(text: CheckedText, view: FoldView): FoldedText | undefined {
  const known = forms.get(text);
  if (known?.has(view.key)) return known.get(view.key);
  const made = foldText(text, view);
  if (known === undefined) forms.set(text, new Map([[view.key, made]]));
  else known.set(view.key, made);
  return made;
}
