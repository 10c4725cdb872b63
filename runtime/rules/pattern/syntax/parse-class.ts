import { foldSet } from '../../unicode/case-fold.ts';
import { posixClass } from '../../unicode/classes.ts';
import { complement, MAX_RUNE, type RuneSet, runeSet } from '../../unicode/rune-set.ts';
import { parseEscape, parsePerlClass, parseUnicodeClass, signed } from './parse-escape.ts';
import { type Cursor, excerpt, PatternSyntaxError, peek, remaining, startsWith } from './pattern-cursor.ts';

/** A parsed `[…]`: its set and its source for the engine. */
type ParsedClass = { readonly set: RuneSet; readonly engineSource: string };

/** Reads a `[…]` with the cursor at its bracket. */
export function parseClass(cursor: Cursor, fold: boolean): ParsedClass {
  const start = cursor.at;
  cursor.at += 1;
  const negated = peek(cursor) === '^';
  if (negated) cursor.at += 1;
  const first = cursor.at;
  const pairs: number[] = [];
  const source: string[] = [negated ? '[^' : '['];
  let namesAny = false;
  while (remaining(cursor) > 0 && (peek(cursor) !== ']' || cursor.at === first)) {
    const from = cursor.at;
    pairs.push(...parseItem(cursor, fold));
    const text = cursor.runes.slice(from, cursor.at).join('');
    if (/^\\[pP]\{\^?Any\}$/.test(text)) namesAny = true;
    source.push(untouchable(text));
  }
  if (remaining(cursor) === 0)
    throw new PatternSyntaxError(
      `missing ] after ${excerpt(cursor, start)}: close the class, or write \\[ for the character`,
    );
  cursor.at += 1;
  const union = runeSet(pairs);
  const set = negated ? complement(union) : union;
  return { set, engineSource: namesAny ? classSource(set) : `${source.join('')}]` };
}

/** A class that matches exactly the set, in any case mode. */
export function classSource(set: RuneSet): string {
  if (set.length === 0) return `[^\\x{0}-\\x{${MAX_RUNE.toString(16)}}]`;
  const hex = (rune: number | undefined) => `\\x{${(rune ?? 0).toString(16)}}`;
  const ranges: string[] = [];
  for (let at = 0; at < set.length; at += 2) ranges.push(`${hex(set[at])}-${hex(set[at + 1])}`);
  return `(?-i:[${ranges.join('')}])`;
}

/** npm re2 would convert `\p{L}` to `\pL`, so that the short form is passed directly. */
export function shortUnicodeName(text: string): string {
  return text.replace(/^\\([pP])\{(.)\}$/su, '\\$1$2');
}

/**
 * npm re2 puts a backslash before `/` and takes `(?<` for a group even inside a class. A plain `[` must not become the
 * start of a `[:name:]` together with the characters that are written after it.
 */
function untouchable(item: string): string {
  if (/^\\[pP]/.test(item)) return shortUnicodeName(item);
  if (/^\[:.*:\]$/s.test(item)) return item;
  return item.replaceAll(/\\.|[/([]/gsu, (part) => (part === '/' ? '\\x2f' : part.length === 1 ? `\\${part}` : part));
}

function parseItem(cursor: Cursor, fold: boolean): RuneSet {
  if (remaining(cursor) > 2 && startsWith(cursor, '[:')) {
    const named = parsePosixClass(cursor, fold);
    if (named !== undefined) return named;
  }
  if (remaining(cursor) > 2 && (startsWith(cursor, '\\p') || startsWith(cursor, '\\P'))) {
    return parseUnicodeClass(cursor, fold);
  }
  const perl = parsePerlClass(cursor, fold);
  if (perl !== undefined) return perl;
  const start = cursor.at;
  const low = parseCharacter(cursor);
  let high = low;
  if (remaining(cursor) >= 2 && peek(cursor) === '-' && peek(cursor, 1) !== ']') {
    cursor.at += 1;
    high = parseCharacter(cursor);
    if (high < low)
      throw new PatternSyntaxError(
        `the range ${excerpt(cursor, start)} ends before it begins: exchange its ends, or write \\- for the character`,
      );
  }
  return fold ? foldSet([low, high]) : [low, high];
}

function parseCharacter(cursor: Cursor): number {
  if (peek(cursor) === '\\') return parseEscape(cursor);
  const rune = peek(cursor).codePointAt(0);
  if (rune === undefined)
    throw new PatternSyntaxError('missing ] at the end of a class: close it, or write \\[ for the character');
  cursor.at += 1;
  return rune;
}

/** Reads `[:name:]`; undefined (cursor unmoved) when no `:]` follows anywhere, then `[` is an ordinary character. */
function parsePosixClass(cursor: Cursor, fold: boolean): RuneSet | undefined {
  for (let end = cursor.at + 2; end + 1 < cursor.runes.length; end += 1) {
    if (cursor.runes[end] !== ':' || cursor.runes[end + 1] !== ']') continue;
    const name = cursor.runes.slice(cursor.at + 2, end).join('');
    const positive = !name.startsWith('^');
    const set = posixClass(positive ? name : name.slice(1));
    if (set === undefined)
      throw new PatternSyntaxError(
        `unknown class ${excerpt(cursor, cursor.at, end + 2)}: write one such as [:alpha:] or [:^digit:]`,
      );
    cursor.at = end + 2;
    return signed(set, positive, fold);
  }
  return undefined;
}
