import { type Cursor, excerpt, PatternSyntaxError, peek } from './pattern-cursor.ts';

/** RE2's bound on the count of a repeat, and on the product of nested counts. */
export const MAX_REPEAT = 1000;

/** A repeat operator that was read; `max` is Infinity when unbounded. */
type Repeat = { readonly min: number; readonly max: number; readonly lazy: boolean; readonly counted: boolean };

/** Reads `*`, `+`, `?` or `{n,m}` with a following `?`; undefined (cursor unmoved) for anything else. */
export function parseRepeat(cursor: Cursor): Repeat | undefined {
  const start = cursor.at;
  const counts = readCounts(cursor);
  if (counts === undefined) return undefined;
  const lazy = peek(cursor) === '?';
  if (lazy) cursor.at += 1;
  const { min, max, counted } = counts;
  const bounded = max === Number.POSITIVE_INFINITY ? min : max;
  if (counted && (max < min || bounded > MAX_REPEAT || min > MAX_REPEAT)) {
    throw new PatternSyntaxError(
      `invalid repeat ${excerpt(cursor, start)}: at most ${MAX_REPEAT}, smaller number first`,
    );
  }
  return { min, max, lazy, counted };
}

function readCounts(cursor: Cursor): { min: number; max: number; counted: boolean } | undefined {
  const operator = peek(cursor);
  if (operator === '{') return readBraces(cursor);
  if (operator !== '*' && operator !== '+' && operator !== '?') return undefined;
  cursor.at += 1;
  return { min: operator === '+' ? 1 : 0, max: operator === '?' ? 1 : Number.POSITIVE_INFINITY, counted: false };
}

/** `{2}`, `{2,}` or `{2,4}`; anything else in braces is ordinary text in RE2. */
function readBraces(cursor: Cursor): { min: number; max: number; counted: boolean } | undefined {
  let text = '';
  for (let ahead = 0; ahead <= 24; ahead += 1) {
    text += peek(cursor, ahead);
    if (peek(cursor, ahead) === '}') break;
  }
  const match = /^\{(0|[1-9][0-9]{0,8})(?:(,)(0|[1-9][0-9]{0,8})?)?\}$/.exec(text);
  if (match === null) return undefined;
  cursor.at += text.length;
  const min = Number(match[1]);
  const open = match[2] === undefined ? min : Number.POSITIVE_INFINITY;
  return { min, max: match[3] === undefined ? open : Number(match[3]), counted: true };
}
