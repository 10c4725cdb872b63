import { pastedParts } from './pasted-text.ts';

/** A part of a text, in UTF-16 units; the end is the position after its last unit. */
type Part = {
  readonly start: number;
  readonly end: number;
  /** The writer pasted it. */
  readonly isPasted?: true;
};

/** The mark of a quoted line in mails and chats: "> I live in Rome". */
const lineMark = '>';
/** Maximum number of spaces before the mark of a quoted line; with more spaces it is not a mark in Markdown. */
const mostIndent = 3;

const closingOf: Readonly<Record<string, string>> = {
  ...{ '"': '"', '“': '”', '«': '»', '„': '“”"', "'": "'", '‘': "’'" },
};
const apostrophe = "'";
const wordCharacter = /[\p{L}\p{N}]/u;
const paragraphEnds = new Set(['\n', '\r']);

/**
 * The quotations of a text, including their marks, and pasted parts. A line that begins with `>` is a quotation as a
 * whole. A mark opens a quotation only before a word, not inside or after a word, so that an apostrophe or an inch mark
 * opens no quotation. A quotation that does not end reaches to the end of its paragraph, unless its mark is an
 * apostrophe. The time is in proportion to the text.
 */
export function quotationsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  const pasted = pastedParts(text);
  let nextPasted = 0;
  /** Before this place an apostrophe opens no quotation, because the quotation would have no end. */
  let apostrophesUntil = 0;
  for (let at = 0; at < text.length; at += 1) {
    while ((pasted[nextPasted]?.end ?? text.length + 1) <= at) nextPasted += 1;
    const own = pasted[nextPasted];
    if (own !== undefined && own.start <= at) {
      parts.push({ start: at, end: own.end, isPasted: true });
      at = own.end - 1;
      continue;
    }
    const mark = text.charAt(at);
    if (mark === lineMark && beginsLine(text, at)) {
      const end = endOf(text, at, '');
      parts.push({ start: at, end });
      at = end - 1;
      continue;
    }
    const closing = closingOf[mark];
    if (closing === undefined || !opens(text, at) || (mark === apostrophe && at < apostrophesUntil)) continue;
    const end = endOf(text, at, closing);
    if (mark === apostrophe && !closing.includes(text.charAt(end - 1))) {
      apostrophesUntil = end;
      continue;
    }
    parts.push({ start: at, end });
    at = end - 1;
  }
  return parts;
}

function endOf(text: string, start: number, closing: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (paragraphEnds.has(mark)) return at;
    if (closing.includes(mark) && !wordCharacter.test(text.charAt(at + 1))) return at + 1;
  }
  return text.length;
}

function beginsLine(text: string, at: number): boolean {
  let start = at;
  while (at - start < mostIndent && text.charAt(start - 1) === ' ') start -= 1;
  return start === 0 || paragraphEnds.has(text.charAt(start - 1));
}

function opens(text: string, at: number): boolean {
  return !wordCharacter.test(text.charAt(at - 1)) && text.charAt(at + 1).trim() !== '';
}

/** A quotation of fewer words is a name or a word that the writer marks: I work at "Romashka". */
const fewestWords = 3;

/** Whether a quotation can be direct speech. */
export function isSpeech(text: string, { start, end, isPasted }: Part): boolean {
  return (
    isPasted === true ||
    text.charAt(start) === lineMark ||
    text.slice(start, end).trim().split(/\s+/).length >= fewestWords
  );
}

/**
 * A text of the same length, in which every quoted speech is replaced by characters that belong to no word. Pasted text
 * ends the sentences before it and its own.
 */
export function maskSpeech(text: string, quotations: readonly Part[] = quotationsOf(text)): string {
  let masked = '';
  let from = 0;
  for (const part of quotations) {
    if (!isSpeech(text, part)) continue;
    const { start, end } = part;
    masked += text.slice(from, start) + (part.isPasted === true ? '\n' : text.charAt(start));
    masked +=
      '_'.repeat(Math.max(0, end - start - 2)) + (part.isPasted === true ? '\n' : '_').repeat(end - start > 1 ? 1 : 0);
    from = end;
  }
  return masked + text.slice(from);
}
