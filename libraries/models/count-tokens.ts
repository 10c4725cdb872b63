import { countTokens as countEncoded, encodeGenerator } from 'gpt-tokenizer/encoding/o200k_base';
import type { Turns } from '#kit/concurrency/turns';

/**
 * Longest run, without a change between white space and other characters, that is encoded in one step, because the cost
 * of a step is quadratic.
 */
const longestRun = 256;

/** UTF-16 units that are read between two values of a generator. */
const unitsOfStep = 65_536;

/** Words that are encoded between two checks of the clock. */
const wordsOfStep = 64;

/** Tokens of a text in the encoding o200k_base. A longer run is split first, which can count a few tokens more. */
export function countTokens(text: string): number {
  let tokens = 0;
  let from = 0;
  for (const cut of cutsOf(text)) {
    if (cut === undefined) continue;
    tokens += countEncoded(text.slice(from, cut), plain);
    from = cut;
  }
  return tokens + countEncoded(text.slice(from), plain);
}

/**
 * Counts the tokens of a text in several turns of the event loop, so that other requests are answered meanwhile.
 * @param most above this number counting may stop early: the result is then any number above it
 */
export async function countTokensInTurns(text: string, turns: Turns, most = Number.POSITIVE_INFINITY): Promise<number> {
  let tokens = 0;
  let words = 0;
  for (const count of countsOf(text)) {
    tokens += count;
    words += 1;
    if (tokens > most) return tokens;
    if ((count === 0 || words % wordsOfStep === 0) && turns.isOver()) await turns.next();
  }
  return tokens;
}

/** Tokens of each word, or 0 after a stretch without a split. */
function* countsOf(text: string): Generator<number> {
  let from = 0;
  for (const cut of cutsOf(text)) {
    if (cut === undefined) yield 0;
    else {
      for (const word of encodeGenerator(text.slice(from, cut), plain)) yield word.length;
      from = cut;
    }
  }
  for (const word of encodeGenerator(text.slice(from), plain)) yield word.length;
}

/**
 * Positions in runs longer than `longestRun` at which a text is split; undefined after each stretch of `unitsOfStep`.
 */
function* cutsOf(text: string): Generator<number | undefined> {
  let start = 0;
  let wasSpace = false;
  for (let at = 0; at < text.length; at += 1) {
    const isSpace = isWhiteSpace(text.charCodeAt(at));
    if (at === 0 || isSpace !== wasSpace) start = at;
    else if ((at - start) % longestRun === 0) yield at;
    wasSpace = isSpace;
    if (at % unitsOfStep === unitsOfStep - 1) yield undefined;
  }
}

/** Whether `\s` of a regular expression matches the UTF-16 unit. */
function isWhiteSpace(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return unit === 0xa0 || (unit >= 0x1680 && rareSpaces.has(unit));
}

const rareSpaces = new Set(
  [
    ...'\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  ].map((space) => space.charCodeAt(0)),
);

/** Texts that look like control tokens of a model are ordinary text. */
const plain = { disallowedSpecial: new Set<string>() };
