import { contains, type RuneSet } from '../../runtime/rules/unicode/rune-set.ts';
import type { Random } from '../streaming/random.ts';

const ascii = [...'aabbkKsSzZiIeE09_ -./:,\n'];
/**
 * Letters with several case variants, dotless and dotted i, combining marks, emoji of several code points, boundaries
 * of UTF-8.
 */
const beyond = [
  ...'ıİſKåÅÅßẞéÉǆǅǄ',
  ...'аяАЯёЁжіѣᲀᲁв',
  ...'σςΣωΩΩμµιͅιθϑϴΐ',
  ...['e\u0301', '\u0301', '\u0308', '\u20dd', '\u0345', 'и\u0306'],
  ...['😀', '👍🏽', '👩‍👩‍👧', '🇷🇺', '❤️', '\u200d', '\ufe0f'],
  ...['\0', '\t', '\r', '\v', '\f', '\u0007', '\u007f', '\u0085', '\u00a0', '\u2028', '\u2029', '\u3000'],
  ...'中あア한אعदไĀꙋᏸᎠꭰⰀ',
  ...['\u07ff', '\u0800', '\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}', '\ufeff'],
];

/** Characters of the generated patterns and texts. */
export const characters: readonly string[] = [...ascii, ...ascii, ...beyond];

export function anyCharacter(random: Random): string {
  return random.pick(characters);
}

/** A few randomly chosen characters. */
export function noise(random: Random, longest: number): string {
  return Array.from({ length: random.below(longest + 1) }, () => anyCharacter(random)).join('');
}

/** The text of a code point; a surrogate, which no valid text contains, is replaced by a letter. */
function textOf(rune: number): string {
  return rune >= 0xd800 && rune <= 0xdfff ? 'a' : String.fromCodePoint(rune);
}

/** A character of a set, usually at the boundary of one of its ranges. */
export function memberOf(set: RuneSet, random: Random): string {
  if (set.length === 0) return anyCharacter(random);
  const common = characters.filter((one) => [...one].length === 1 && contains(set, one.codePointAt(0) ?? 0));
  if (common.length > 0 && random.chance(50)) return random.pick(common);
  const at = 2 * random.below(set.length >> 1);
  const low = set[at] ?? 0;
  const high = set[at + 1] ?? low;
  return textOf(random.chance(60) ? random.pick([low, high]) : random.between(low, high));
}

/** The character in another case, if that is a single code point. */
export function otherCase(character: string, random: Random): string {
  const [upper, lower] = [character.toUpperCase(), character.toLowerCase()];
  const cases = [upper, lower, upper.toLowerCase(), lower.toUpperCase()].filter(
    (one) => [...one].length === 1 && one !== character,
  );
  return cases.length === 0 ? character : random.pick(cases);
}
