import { foldSet } from '../../unicode/case-fold.ts';
import { perlClass, unicodeClass } from '../../unicode/classes.ts';
import { complement, MAX_RUNE, type RuneSet } from '../../unicode/rune-set.ts';
import { type Cursor, excerpt, PatternSyntaxError, peek } from './pattern-cursor.ts';

const CONTROL: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, a: 7, f: 12, v: 11 };
const noBackReference = 'back-references are not supported: write out the alternatives, or use an external detector';
const ADVICE: Readonly<Record<string, string>> = {
  u: 'write \\x{…} instead of \\u',
  c: 'write \\x{…} instead of \\c',
  Z: 'write \\z',
  Q: '\\Q has no meaning inside […]',
  b: '\\b has no meaning inside […]',
  R: 'write (?:\\r\\n|[\\n\\r])',
  h: 'write [ \\t]',
  k: noBackReference,
};

/** Reads one escaped character (`\n`, `\x{41}`, `\.`) with the cursor at its backslash; returns its code point. */
export function parseEscape(cursor: Cursor): number {
  const start = cursor.at;
  const letter = peek(cursor, 1);
  if (letter === '')
    throw new PatternSyntaxError('the pattern ends with a single backslash: remove it, or write \\\\ for a backslash');
  cursor.at += 2;
  if (letter >= '0' && letter <= '7') return parseOctal(cursor, start, letter);
  if (letter === 'x') return parseHex(cursor, start);
  const control = Object.hasOwn(CONTROL, letter) ? CONTROL[letter] : undefined;
  if (control !== undefined) return control;
  if (letter.charCodeAt(0) < 0x80 && !/[0-9A-Za-z]/.test(letter)) return letter.charCodeAt(0);
  throw badEscape(cursor, start, letter);
}

function badEscape(cursor: Cursor, start: number, letter: string): PatternSyntaxError {
  const known = Object.hasOwn(ADVICE, letter) ? ADVICE[letter] : undefined;
  const advice =
    known ??
    (/[1-9]/.test(letter)
      ? noBackReference
      : 'RE2 has no such escape: remove the backslash, or write \\\\ for a backslash');
  return new PatternSyntaxError(`invalid escape ${excerpt(cursor, start)}: ${advice}`);
}

/** Reads up to three octal digits; a single digit other than 0 would be a back-reference. */
function parseOctal(cursor: Cursor, start: number, first: string): number {
  const isOctal = (character: string) => character >= '0' && character <= '7' && character.length === 1;
  if (first !== '0' && !isOctal(peek(cursor))) throw badEscape(cursor, start, first);
  let code = Number(first);
  for (let digits = 1; digits < 3 && isOctal(peek(cursor)); digits += 1) {
    code = code * 8 + Number(peek(cursor));
    cursor.at += 1;
  }
  return code;
}

function parseHex(cursor: Cursor, start: number): number {
  const isHex = (character: string) => /^[0-9A-Fa-f]$/.test(character);
  const invalid = () => new PatternSyntaxError(`invalid escape ${excerpt(cursor, start)}: write \\x41 or \\x{1F600}`);
  if (peek(cursor) !== '{') {
    const digits = peek(cursor) + peek(cursor, 1);
    cursor.at += 2;
    if (!isHex(digits[0] ?? '') || !isHex(digits.slice(1))) throw invalid();
    return Number.parseInt(digits, 16);
  }
  cursor.at += 1;
  let code = 0;
  let digits = 0;
  for (; isHex(peek(cursor)); digits += 1) {
    code = code * 16 + Number.parseInt(peek(cursor), 16);
    cursor.at += 1;
    if (code > MAX_RUNE) throw invalid();
  }
  if (digits === 0 || peek(cursor) !== '}') throw invalid();
  cursor.at += 1;
  return code;
}

/** Reads a class such as `\d` or `\S`; undefined (with the cursor unmoved) for anything else. */
export function parsePerlClass(cursor: Cursor, fold: boolean): RuneSet | undefined {
  if (peek(cursor) !== '\\') return undefined;
  const letter = peek(cursor, 1);
  const set = perlClass(letter.toLowerCase());
  if (set === undefined) return undefined;
  cursor.at += 2;
  return signed(set, letter === letter.toLowerCase(), fold);
}

/** Reads `\pN`, `\p{Greek}`, `\P{^L}` with the cursor at the backslash. */
export function parseUnicodeClass(cursor: Cursor, fold: boolean): RuneSet {
  const start = cursor.at;
  let positive = peek(cursor, 1) === 'p';
  cursor.at += 3;
  let name = peek(cursor, -1);
  if (name === '{') {
    const end = cursor.runes.indexOf('}', cursor.at);
    if (end < 0)
      throw new PatternSyntaxError(`missing } after ${excerpt(cursor, start)}: write \\p{Greek}, for example`);
    name = cursor.runes.slice(cursor.at, end).join('');
    cursor.at = end + 1;
  }
  if (name.startsWith('^')) {
    positive = !positive;
    name = name.slice(1);
  }
  const set = unicodeClass(name);
  if (set !== undefined) return signed(set, positive, fold);
  const shown = excerpt(cursor, start, Math.min(cursor.at, cursor.runes.length));
  throw new PatternSyntaxError(
    `unknown Unicode class ${shown}: RE2 knows general categories such as \\p{Lu} and scripts such as \\p{Greek}`,
  );
}

/** The class or its complement; if case is ignored, the class is folded before it is complemented. */
export function signed(set: RuneSet, positive: boolean, fold: boolean): RuneSet {
  const folded = fold ? foldSet(set) : set;
  return positive ? folded : complement(folded);
}
