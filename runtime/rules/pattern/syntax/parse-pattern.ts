import { foldOrbit } from '../../unicode/case-fold.ts';
import { ANY_RUNE, complement, type RuneSet, runeSet } from '../../unicode/rune-set.ts';
import { classSource, parseClass, shortUnicodeName } from './parse-class.ts';
import { parseEscape, parsePerlClass, parseUnicodeClass } from './parse-escape.ts';
import { type Flags, parseGroupOpening } from './parse-group.ts';
import { MAX_REPEAT, parseRepeat } from './parse-repeat.ts';
import { type Cursor, excerpt, PatternSyntaxError, peek, remaining, startsWith } from './pattern-cursor.ts';
import {
  type Assertion,
  concat,
  either,
  type PatternFault,
  type PatternNode,
  type PatternSource,
  type PatternTree,
} from './pattern-tree.ts';

const NOT_NEWLINE = complement([0x0a, 0x0a]);

/**
 * One open group: the finished alternatives, the alternative that is being read, and the flags that apply after the
 * group.
 */
type Frame = { readonly branches: PatternNode[]; items: PatternNode[]; readonly outerFlags: Flags };

type Parser = {
  readonly cursor: Cursor;
  readonly source: string[];
  /** Positions in `source` of groups that capture. */
  readonly captures: Set<number>;
  readonly frames: Frame[];
  /** The number of copies that a counted repeat makes, multiplied over nested repeats; absent for 1. */
  readonly copies: Map<PatternNode, number>;
  flags: Flags;
};

/**
 * Parses the syntax that google-re2 1.1.20251105 accepts with its default options (RE2 2025-11-05, parse.cc), or
 * returns the reason why a pattern is refused. An accepted pattern can still be too large for the engine:
 * compilePattern decides.
 */
export function parsePattern({ pattern, caseSensitive }: PatternSource): PatternTree | PatternFault {
  if (!pattern.isWellFormed()) return { reason: 'the pattern contains half of a surrogate pair' };
  const flags = { fold: !caseSensitive, multiLine: false, dotAll: false, swapGreed: false };
  const cursor = { runes: Array.from(pattern), at: 0 };
  const root: Frame = { branches: [], items: [], outerFlags: flags };
  const parser: Parser = { cursor, source: [], captures: new Set(), frames: [root], copies: new Map(), flags };
  try {
    parseAll(parser);
  } catch (error) {
    if (error instanceof PatternSyntaxError) return { reason: error.message };
    throw error;
  }
  const { source, captures } = parser;
  const capturing = source.map((part, place) => (captures.has(place) ? '(' : part));
  return {
    node: closeFrame(parser, root),
    engineSource: source.join(''),
    capturingSource: captures.size === 0 ? undefined : capturing.join(''),
    caseSensitive,
  };
}

function parseAll(parser: Parser): void {
  const { cursor, frames } = parser;
  let repeatStart = -1;
  while (remaining(cursor) > 0) {
    const start = cursor.at;
    const repeat = parseRepeat(cursor);
    if (repeat === undefined) {
      repeatStart = -1;
      parseAtom(parser);
      continue;
    }
    if (repeatStart >= 0) {
      const operators = excerpt(cursor, repeatStart);
      throw new PatternSyntaxError(`${operators} repeats a repeat: put the inner one into (?:…)`);
    }
    repeatStart = start;
    parser.source.push(excerpt(cursor, start));
    const items = frameOf(parser).items;
    const item = items.pop();
    if (item === undefined)
      throw new PatternSyntaxError(
        `there is nothing before ${excerpt(cursor, start)} to repeat: write \\ before it to match the character itself`,
      );
    const { min, max, lazy, counted } = repeat;
    const node: PatternNode = { kind: 'repeat', item, min, max, greedy: lazy === parser.flags.swapGreed };
    const factor = counted ? (max === Number.POSITIVE_INFINITY ? min : max) : 1;
    const copies = Math.max(1, factor) * (parser.copies.get(item) ?? 1);
    if (counted && (min >= 2 || factor >= 2) && copies > MAX_REPEAT) {
      throw new PatternSyntaxError(
        `${excerpt(cursor, start)} makes more than ${MAX_REPEAT} copies, nested repeats counted: lower one of the numbers`,
      );
    }
    if (copies > 1) parser.copies.set(node, copies);
    items.push(node);
  }
  if (frames.length > 1) throw new PatternSyntaxError('a ( is never closed: close it, or write \\( for the character');
}

function frameOf(parser: Parser): Frame {
  const frame = parser.frames.at(-1);
  if (frame === undefined) throw new Error('a closing parenthesis was accepted without an open group');
  return frame;
}

function parseAtom(parser: Parser): void {
  const { cursor, source } = parser;
  const character = peek(cursor);
  switch (character) {
    case '(':
      openGroup(parser);
      break;
    case ')':
      closeGroup(parser);
      break;
    case '|': {
      const frame = frameOf(parser);
      frame.branches.push(concatenate(parser, frame.items));
      frame.items = [];
      take(parser, character);
      break;
    }
    case '^':
      pushAssertion(parser, character, parser.flags.multiLine ? 'line-start' : 'text-start');
      break;
    case '$':
      pushAssertion(parser, character, parser.flags.multiLine ? 'line-end' : 'text-end');
      break;
    case '.':
      frameOf(parser).items.push({ kind: 'runes', set: parser.flags.dotAll ? ANY_RUNE : NOT_NEWLINE });
      take(parser, character);
      break;
    case '[': {
      const parsed = parseClass(cursor, parser.flags.fold);
      frameOf(parser).items.push({ kind: 'runes', set: parsed.set });
      source.push(parsed.engineSource);
      return;
    }
    case '\\':
      parseBackslash(parser);
      break;
    default:
      pushRune(parser, character.codePointAt(0) ?? 0);
      take(parser, character === '/' ? '\\x2f' : character);
      break;
  }
}

/** Advances by one character, which the engine receives as `text`. */
function take(parser: Parser, text: string): void {
  parser.source.push(text);
  parser.cursor.at += 1;
}

function pushAssertion(parser: Parser, text: string, at: Assertion): void {
  frameOf(parser).items.push({ kind: 'assertion', at });
  parser.source.push(text);
  parser.cursor.at += text.length;
}

function pushRune(parser: Parser, rune: number): void {
  const set: RuneSet = parser.flags.fold ? runeSet(foldOrbit(rune).flatMap((one) => [one, one])) : [rune, rune];
  frameOf(parser).items.push({ kind: 'runes', set });
}

function openGroup(parser: Parser): void {
  const opening = parseGroupOpening(parser.cursor, parser.flags);
  if (opening.captures) parser.captures.add(parser.source.length);
  parser.source.push(opening.engineSource);
  if (opening.opens) parser.frames.push({ branches: [], items: [], outerFlags: parser.flags });
  parser.flags = opening.flags;
}

function closeGroup(parser: Parser): void {
  const frame = parser.frames.pop();
  if (frame === undefined || parser.frames.length === 0)
    throw new PatternSyntaxError('a ) closes nothing: remove it, or write \\) for the character');
  parser.flags = frame.outerFlags;
  frameOf(parser).items.push(closeFrame(parser, frame));
  take(parser, ')');
}

function closeFrame(parser: Parser, frame: Frame): PatternNode {
  const branches = [...frame.branches, concatenate(parser, frame.items)];
  const node = either(branches);
  rememberCopies(parser, node, branches);
  return node;
}

function concatenate(parser: Parser, items: readonly PatternNode[]): PatternNode {
  const node = concat(items);
  rememberCopies(parser, node, items);
  return node;
}

function rememberCopies(parser: Parser, node: PatternNode, parts: readonly PatternNode[]): void {
  let most = 1;
  for (const part of parts) most = Math.max(most, parser.copies.get(part) ?? 1);
  if (most > 1) parser.copies.set(node, most);
}

function parseBackslash(parser: Parser): void {
  const { cursor, source, flags } = parser;
  const start = cursor.at;
  switch (peek(cursor, 1)) {
    case 'b':
      pushAssertion(parser, '\\b', 'word-boundary');
      break;
    case 'B':
      pushAssertion(parser, '\\B', 'no-word-boundary');
      break;
    case 'A':
      pushAssertion(parser, '\\A', 'text-start');
      break;
    case 'z':
      pushAssertion(parser, '\\z', 'text-end');
      break;
    case 'C':
      frameOf(parser).items.push({ kind: 'any-byte' });
      source.push('\\C');
      cursor.at += 2;
      return;
    case 'Q':
      parseQuoted(parser);
      break;
    case 'p':
    case 'P': {
      const set = parseUnicodeClass(cursor, flags.fold);
      frameOf(parser).items.push({ kind: 'runes', set });
      const text = cursor.runes.slice(start, cursor.at).join('');
      source.push(text.includes('Any') ? classSource(set) : shortUnicodeName(text));
      return;
    }
    default: {
      const set = parsePerlClass(cursor, flags.fold);
      if (set === undefined) pushRune(parser, parseEscape(cursor));
      else frameOf(parser).items.push({ kind: 'runes', set });
      source.push(cursor.runes.slice(start, cursor.at).join(''));
    }
  }
}

/** Reads `\Q…\E`: every character inside is literal; npm re2 would rewrite some of them. */
function parseQuoted(parser: Parser): void {
  const { cursor } = parser;
  cursor.at += 2;
  while (remaining(cursor) > 0) {
    if (startsWith(cursor, '\\E')) {
      cursor.at += 2;
      return;
    }
    const rune = peek(cursor).codePointAt(0) ?? 0;
    pushRune(parser, rune);
    take(parser, `\\x{${rune.toString(16)}}`);
  }
}
