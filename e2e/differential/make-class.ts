import { perlClass, posixClass, unicodeClass } from '../../runtime/rules/unicode/classes.ts';
import tables from '../../runtime/rules/unicode/re2-tables.json' with { type: 'json' };
import { complement, type RuneSet, runeSet } from '../../runtime/rules/unicode/rune-set.ts';
import type { Random } from '../streaming/random.ts';
import { characters } from './characters.ts';

/** A part of a character class or a complete class. The set only serves to generate texts that probably match. */
export type ClassPart = { readonly source: string; readonly set: RuneSet };

const posixNames = [
  ...['alnum', 'alpha', 'ascii', 'blank', 'cntrl', 'digit', 'graph'],
  ...['lower', 'print', 'punct', 'space', 'upper', 'word', 'xdigit'],
];
/** The names that `\p{…}` accepts. */
const unicodeNames: readonly string[] = ['Any', ...Object.keys(tables.groups)];
/** Single-letter property names, which need no braces. */
const letters = unicodeNames.filter((name) => name.length === 1);

const signed = (set: RuneSet, positive: boolean): RuneSet => (positive ? set : complement(set));

export function perl(letter: string): ClassPart {
  const small = letter.toLowerCase();
  return { source: `\\${letter}`, set: signed(perlClass(small) ?? [], letter === small) };
}

/** `[:alpha:]` or `[:^alpha:]`, for use inside brackets. */
export function posix(random: Random, positive: boolean): ClassPart {
  const name = random.pick(posixNames);
  return { source: `[:${positive ? '' : '^'}${name}:]`, set: signed(posixClass(name) ?? [], positive) };
}

/** `\pN` or `\PN`. */
export function unicodeLetter(random: Random, positive: boolean): ClassPart {
  const name = random.pick(letters);
  return { source: `\\${positive ? 'p' : 'P'}${name}`, set: signed(unicodeClass(name) ?? [], positive) };
}

/** `\p{Greek}`, `\P{Greek}`, `\p{^Greek}` or `\P{^Greek}`: all categories and scripts. */
export function unicodeName(random: Random, positive: boolean, caret = false): ClassPart {
  const name = random.pick(unicodeNames);
  const source = `\\${positive ? 'p' : 'P'}{${caret ? '^' : ''}${name}}`;
  return { source, set: signed(unicodeClass(name) ?? [], positive !== caret) };
}

/** A character in a form that a pattern or a class accepts: literal, or as one of its escapes. */
export function written(character: string, random: Random): string {
  const rune = character.codePointAt(0) ?? 0;
  const hex = rune.toString(16);
  const forms = [`\\x{${random.chance(30) ? `000${hex}` : hex}}`];
  if (rune < 0x100) forms.push(`\\x${hex.padStart(2, '0')}`, `\\x${hex.padStart(2, '0').toUpperCase()}`);
  if (rune < 0o1000 && rune > 7) forms.push(`\\${rune.toString(8).padStart(random.pick([2, 3]), '0')}`);
  if (/[\p{L}\p{N}]/u.test(character)) return random.chance(75) ? character : random.pick(forms);
  if (rune < 0x80 && rune > 0x20) return random.chance(75) ? `\\${character}` : random.pick(forms);
  return random.chance(60) && character !== ' ' ? character : random.pick([...forms, character]);
}

const singles = characters.filter((one) => [...one].length === 1);
const ranges = [
  ...['az', 'AZ', 'ak', '09', '!~', '\0~', '\0\u007f', 'ая', 'АЯ', 'аё', 'αω', 'ΑΩ', 'Āſ', 'ǄǌkK', 'ıſ'],
  ...['\u0300\u036f', '😀🙏', 'あん', '一龥', '\u0080\u{10ffff}', '\u07ff\u0800', '\uffff\u{10000}', '\ue000\uffff'],
].map((pair) => [...pair] as readonly string[]);

function range(random: Random): ClassPart {
  const [low = 'a', high = 'z'] = random.chance(70)
    ? random.pick(ranges)
    : [random.pick(singles), random.pick(singles)].sort((a, b) => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0));
  const set = [low.codePointAt(0) ?? 0, high.codePointAt(0) ?? 0];
  return { source: `${written(low, random)}-${written(high, random)}`, set };
}

function single(random: Random): ClassPart {
  const character = random.pick(singles);
  const rune = character.codePointAt(0) ?? 0;
  return { source: written(character, random), set: [rune, rune] };
}

const at = (character: string): RuneSet => [character.charCodeAt(0), character.charCodeAt(0)];

/** One generator for each kind of element inside of brackets. */
const elements: Readonly<Record<string, (random: Random) => ClassPart>> = {
  '[x]': single,
  '[A-Z]': range,
  '[\\d]': (random) => perl(random.pick([...'dswDSW'])),
  '[[:name:]]': (random) => posix(random, true),
  '[[:^name:]]': (random) => posix(random, false),
  '[\\pN]': (random) => unicodeLetter(random, random.chance(70)),
  '[\\p{Name}]': (random) => unicodeName(random, random.chance(70), random.chance(20)),
};
export const elementNames = Object.keys(elements);

/** `[…]` or `[^…]` with the named kind of element first and possibly more elements after it. */
export function brackets(random: Random, first: string, negated: boolean): ClassPart {
  const made = [first, ...Array.from({ length: random.below(3) }, () => random.pick(elementNames))];
  const parts = made.flatMap((name) => elements[name]?.(random) ?? []);
  const [begin, end] = [random.chance(8) ? ']' : random.chance(8) ? '-' : '', random.chance(8) ? '-' : ''];
  const pairs = [
    ...parts.flatMap(({ set }) => set),
    ...(begin === '' ? [] : at(begin)),
    ...(end === '' ? [] : at(end)),
  ];
  const source = `[${negated ? '^' : ''}${begin}${parts.map((part) => part.source).join('')}${end}]`;
  return { source, set: signed(runeSet(pairs), !negated) };
}
