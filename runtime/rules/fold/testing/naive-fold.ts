import confusables from 'unhomoglyph/data.json' with { type: 'json' };
import type { Fold } from '#contracts/folds';
import { foldOrbit } from '../../unicode/case-fold.ts';

/** A folded character and the bytes of the original text from which it was made. */
export type NaiveUnit = { text: string; readonly start: number; end: number };

const table: Readonly<Record<string, string>> = confusables;

/** A plain implementation of foldText: strings, `normalize`, and no tables. */
export function foldNaively(text: string, kinds: ReadonlySet<Fold>, sourceBytes: number): NaiveUnit[] {
  const units: NaiveUnit[] = [];
  let source = 0;
  let at = 0;
  for (const character of text) {
    const start = at;
    at += Buffer.byteLength(character);
    source += at - start;
    const last = units.at(-1);
    if (source <= sourceBytes) {
      if (isDropped(character, kinds)) continue;
      const joined = last === undefined ? undefined : joinedWith(last.text, character, kinds);
      if (joined !== undefined && last !== undefined) {
        last.text = joined;
        last.end = at;
        continue;
      }
    }
    for (const one of charactersOf(character, kinds)) units.push({ text: one, start, end: at });
    source = at - start;
  }
  return units;
}

const isDropped = (character: string, kinds: ReadonlySet<Fold>): boolean =>
  kinds.has('invisible') && /^\p{Default_Ignorable_Code_Point}$/u.test(character);

const isSpace = (character: string, kinds: ReadonlySet<Fold>): boolean =>
  kinds.has('whitespace') && /^\p{White_Space}$/u.test(character);

/** The composition of the last character with this one; undefined if this one is a separate character. */
function joinedWith(last: string, character: string, kinds: ReadonlySet<Fold>): string | undefined {
  if (isSpace(character, kinds)) return last === ' ' ? ' ' : undefined;
  if (!isMark(character) || !(kinds.has('compatibility') || kinds.has('confusables'))) return undefined;
  const composed = character.normalize('NFC') === character ? (last + character).normalize('NFC') : '';
  if ([...composed].length === 1) {
    const folded = charactersOf(composed, kinds);
    return folded.length === 1 ? folded[0] : undefined;
  }
  return kinds.has('confusables') && isEuropean(last) ? last : undefined;
}

const isMark = (character: string): boolean => /^\p{Mn}$/u.test(character);
const isEuropean = (character: string): boolean => /^[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}]$/u.test(character);

/** The folded form of a single character that is not joined. */
export function charactersOf(character: string, kinds: ReadonlySet<Fold>): readonly string[] {
  if (isSpace(character, kinds)) return [' '];
  const rune = character.codePointAt(0) ?? 0;
  if (rune < 0x80 || rune >= 0x20000 || isDropped(character, kinds) || isMark(character)) return [character];
  const compatible = kinds.has('compatibility')
    ? character.normalize('NFKC').replaceAll('ё', 'е').replaceAll('Ё', 'Е')
    : character;
  const folded = kinds.has('confusables') ? [...compatible].map(lookalike) : [...compatible];
  const longer = Buffer.byteLength(folded.join('')) > Buffer.byteLength(character);
  return longer || folded.some(isMark) ? [character] : folded;
}

function lookalike(character: string): string {
  const [base = '', ...accents] = character.normalize('NFD');
  const keeps = character === 'й' || character === 'Й' || !isEuropean(base) || !accents.every(isMark);
  const bare = keeps ? character : base;
  if ((bare.codePointAt(0) ?? 0) < 0x80) return bare;
  const group = [...foldOrbit(bare.codePointAt(0) ?? 0)]
    .sort((left, right) => left - right)
    .map((rune) => String.fromCodePoint(rune));
  const isLower = (one: string): boolean => /^\p{Ll}$/u.test(one);
  const hasLetter = (one: string): boolean => (one.codePointAt(0) ?? 0) >= 0x80 && /^[A-Za-z]$/.test(table[one] ?? '');
  if (!group.some(hasLetter)) return bare;
  const ascii = group.find((one) => (one.codePointAt(0) ?? 0) < 0x80);
  const similar = group.find((one) => isLower(one) && hasLetter(one)) ?? group.find(hasLetter) ?? '';
  const letter = (ascii ?? table[similar] ?? '').toLowerCase();
  return isLower(bare) || group.length === 1 ? letter : letter.toUpperCase();
}
