import confusables from 'unhomoglyph/data.json' with { type: 'json' };
import type { Fold } from '#contracts/folds';
import { foldOrbit } from '../unicode/case-fold.ts';
import { utf8Length } from '../unicode/rune-set.ts';

/** Code points from here on are folded to themselves, except invisible ones. */
export const tableEnd = 0x20000;

/** Entries of a table that are not code points. */
export const asRemoved = -1;
export const asSpace = -2;
export const asMark = -3;
export const asSequence = -4;

/** The folded form of each code point. */
export type FoldTable = {
  /** By code point below `tableEnd`: the folded code point, or one of the entries above. */
  readonly entries: Int32Array;
  /** The replacement of an entry `asSequence`; never longer in UTF-8 than its source. */
  readonly sequences: ReadonlyMap<number, readonly number[]>;
  /** The composed character of a base and a mark, by `base * 0x110000 + mark`. */
  readonly composites: ReadonlyMap<number, number>;
  /** Whether marks that occur in no composed character are removed after letters of Latin, Greek and Cyrillic. */
  readonly dropsMarks: boolean;
  /** Whether a mark is joined with the letter before it. */
  readonly joinsMarks: boolean;
  readonly dropsInvisible: boolean;
};

const tables = new Map<string, FoldTable>();

/** The table of a set of folds; made once, in about 50 ms. */
export function foldTable(kinds: ReadonlySet<Fold>): FoldTable {
  const key = [...kinds].sort().join();
  const known = tables.get(key);
  if (known !== undefined) return known;
  const made = makeTable(kinds);
  tables.set(key, made);
  return made;
}

const invisible = /^\p{Default_Ignorable_Code_Point}$/u;
const whiteSpace = /^\p{White_Space}$/u;
const marks = /^\p{Mn}$/u;
const europeanLetter = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]$/u;
/** Letters whose mark is a part of the letter and no accent. */
const withOwnMark = new Set('йЙ');

export function isInvisible(rune: number): boolean {
  return invisible.test(String.fromCodePoint(rune));
}

export function isMark(rune: number): boolean {
  return marks.test(String.fromCodePoint(rune));
}

export function isEuropeanLetter(rune: number): boolean {
  return europeanLetter.test(String.fromCodePoint(rune));
}

function makeTable(kinds: ReadonlySet<Fold>): FoldTable {
  const entries = new Int32Array(tableEnd);
  const sequences = new Map<number, readonly number[]>();
  const composites = new Map<number, number>();
  const letters = kinds.has('confusables') ? confusableLetters() : new Map<number, number>();
  const composes = kinds.has('compatibility') || kinds.has('confusables');
  for (let rune = 0; rune < tableEnd; rune += 1) {
    entries[rune] = rune;
    if (rune >= 0xd800 && rune <= 0xdfff) continue;
    const character = String.fromCodePoint(rune);
    if (kinds.has('invisible') && invisible.test(character)) entries[rune] = asRemoved;
    else if (kinds.has('whitespace') && whiteSpace.test(character)) entries[rune] = asSpace;
    else if (composes && marks.test(character)) entries[rune] = asMark;
    else if (rune >= 0x80) {
      const folded = foldCharacter(character, kinds, letters);
      const [first, ...more] = folded;
      if (first !== undefined && more.length === 0) entries[rune] = first;
      else if (first !== undefined) {
        entries[rune] = asSequence;
        sequences.set(rune, folded);
      }
      if (composes) noteComposite(character, rune, composites);
    }
  }
  return {
    entries,
    sequences,
    composites,
    dropsMarks: kinds.has('confusables'),
    joinsMarks: composes,
    dropsInvisible: kinds.has('invisible'),
  };
}

function noteComposite(character: string, rune: number, composites: Map<number, number>): void {
  const parts = Array.from(character.normalize('NFD'));
  // A mark may follow a letter that already has a mark: the last mark is removed.
  const base = parts.slice(0, -1).join('').normalize('NFC');
  const last = parts.at(-1)?.codePointAt(0);
  if (parts.length < 2 || last === undefined || Array.from(base).length !== 1) return;
  if (character.normalize('NFC') !== character) return;
  composites.set((base.codePointAt(0) ?? 0) * 0x110000 + last, rune);
}

/**
 * The folded form of one character that is neither removed, white space nor a mark; the character itself if the folded
 * form would be longer or contain a mark.
 */
function foldCharacter(
  character: string,
  kinds: ReadonlySet<Fold>,
  letters: ReadonlyMap<number, number>,
): readonly number[] {
  const own = character.codePointAt(0) ?? 0;
  let folded = character;
  if (kinds.has('compatibility')) folded = character.normalize('NFKC').replaceAll('ё', 'е').replaceAll('Ё', 'Е');
  const runes = Array.from(folded).map((one) => {
    const bare = kinds.has('confusables') ? withoutAccents(one) : one;
    const rune = bare.codePointAt(0) ?? 0;
    return letters.get(rune) ?? rune;
  });
  const bytes = runes.reduce((sum, rune) => sum + utf8Length(rune), 0);
  // A mark would be joined with the letter before it, and then folding twice would give another text.
  return bytes > utf8Length(own) || runes.some(isMark) ? [own] : runes;
}

function withoutAccents(character: string): string {
  if (withOwnMark.has(character)) return character;
  const [base = character, ...rest] = Array.from(character.normalize('NFD'));
  return rest.length > 0 && rest.every((one) => marks.test(one)) && europeanLetter.test(base) ? base : character;
}

/**
 * The Latin letter that each letter of another alphabet or form resembles, from the table of Unicode (UTS 39). Letters
 * that are equal without case stay equal: their group is mapped like its ASCII letter, else like the first lower-case
 * letter that resembles a Latin letter, else like the first such letter. ASCII is unchanged: digits that resemble
 * letters are ordinary digits.
 */
function confusableLetters(): ReadonlyMap<number, number> {
  const table: Readonly<Record<string, string>> = confusables;
  const looks = new Map<number, number>();
  for (const [source, target] of Object.entries(table)) {
    const rune = source.codePointAt(0) ?? 0;
    if (rune < 0x80 || String.fromCodePoint(rune) !== source || !/^[A-Za-z]$/.test(target)) continue;
    looks.set(rune, target.codePointAt(0) ?? 0);
  }
  const letters = new Map<number, number>();
  for (const rune of looks.keys()) {
    const group = [...foldOrbit(rune)].sort((left, right) => left - right);
    const deciding =
      group.find((one) => one < 0x80) ??
      group.find((one) => isLower(one) && looks.has(one)) ??
      group.find((one) => looks.has(one));
    const target = String.fromCodePoint(looks.get(deciding ?? rune) ?? deciding ?? rune).toLowerCase();
    for (const one of group) {
      if (one < 0x80) continue;
      const letter = isLower(one) || group.length === 1 ? target : target.toUpperCase();
      letters.set(one, letter.codePointAt(0) ?? 0);
    }
  }
  return letters;
}

function isLower(rune: number): boolean {
  return /^\p{Ll}$/u.test(String.fromCodePoint(rune));
}
