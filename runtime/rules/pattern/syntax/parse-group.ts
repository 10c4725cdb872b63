import { unicodeClass } from '../../unicode/classes.ts';
import { contains } from '../../unicode/rune-set.ts';
import { type Cursor, excerpt, PatternSyntaxError, peek, startsWith } from './pattern-cursor.ts';

/** The flags `(?imsU)` that apply at one position of a pattern. */
export type Flags = {
  readonly fold: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
  readonly swapGreed: boolean;
};

/**
 * The construct that a `(` opens: a group with the flags inside of it, or only new flags for the rest of the present
 * group.
 */
type GroupOpening = {
  readonly opens: boolean;
  readonly flags: Flags;
  readonly engineSource: string;
  readonly captures: boolean;
};

const NAME_CLASSES = ['Lu', 'Ll', 'Lt', 'Lm', 'Lo', 'Nl', 'Mn', 'Mc', 'Nd', 'Pc'] as const;
const withoutLookaround = 'match the text around it, too, or use an external detector';
const FLAG_NAMES: Readonly<Record<string, keyof Flags>> = {
  i: 'fold',
  m: 'multiLine',
  s: 'dotAll',
  U: 'swapGreed',
};

/** Reads the head of a group with the cursor at its parenthesis. Groups never capture for the engine. */
export function parseGroupOpening(cursor: Cursor, flags: Flags): GroupOpening {
  if (peek(cursor, 1) !== '?') {
    cursor.at += 1;
    return { opens: true, flags, engineSource: '(?:', captures: true };
  }
  for (const look of ['(?=', '(?!', '(?<=', '(?<!']) {
    if (startsWith(cursor, look)) {
      throw new PatternSyntaxError(`${look} is not supported, because RE2 has no lookaround: ${withoutLookaround}`);
    }
  }
  if (startsWith(cursor, '(?P<') || startsWith(cursor, '(?<')) {
    readName(cursor);
    return { opens: true, flags, engineSource: '(?:', captures: true };
  }
  return readFlags(cursor, flags);
}

function readName(cursor: Cursor): void {
  const start = cursor.at;
  const begin = start + (peek(cursor, 2) === 'P' ? 4 : 3);
  const end = cursor.runes.indexOf('>', begin);
  if (end < 0)
    throw new PatternSyntaxError(
      `missing > after ${excerpt(cursor, start, cursor.runes.length)}: end the name of the group with it`,
    );
  const name = cursor.runes.slice(begin, end);
  const valid = (character: string) => {
    const rune = character.codePointAt(0) ?? 0;
    return NAME_CLASSES.some((group) => contains(unicodeClass(group) ?? [], rune));
  };
  if (name.length === 0 || !name.every(valid)) {
    throw new PatternSyntaxError(`invalid group name ${excerpt(cursor, start, end + 1)}: use letters, digits and _`);
  }
  cursor.at = end + 1;
}

/** `(?i)`, `(?i-s)`, `(?:`, `(?i:` and so on. */
function readFlags(cursor: Cursor, flags: Flags): GroupOpening {
  const start = cursor.at;
  const changed: { -readonly [name in keyof Flags]: boolean } = { ...flags };
  let value = true;
  let lonelyMinus = false;
  for (cursor.at += 2; ; ) {
    const letter = peek(cursor);
    cursor.at += 1;
    if ((letter === ':' || letter === ')') && !lonelyMinus) {
      const engineSource = cursor.runes.slice(start, cursor.at).join('');
      return { opens: letter === ':', flags: changed, engineSource, captures: false };
    }
    const name = Object.hasOwn(FLAG_NAMES, letter) ? FLAG_NAMES[letter] : undefined;
    if (name !== undefined) {
      changed[name] = value;
      lonelyMinus = false;
    } else if (letter === '-' && value) {
      value = false;
      lonelyMinus = true;
    } else {
      const shown = excerpt(cursor, start, Math.min(cursor.at, cursor.runes.length));
      throw new PatternSyntaxError(`invalid group ${shown}: RE2 knows (?:…), (?P<name>…) and the flags i, m, s, U`);
    }
  }
}
