import { complement } from '../../runtime/rules/unicode/rune-set.ts';
import type { Random } from '../streaming/random.ts';
import { anyCharacter, characters, memberOf, noise } from './characters.ts';
import {
  brackets,
  type ClassPart,
  elementNames,
  perl,
  posix,
  unicodeLetter,
  unicodeName,
  written,
} from './make-class.ts';

/** A piece of a pattern, and a generator of texts that it probably matches. */
export type Piece = { readonly source: string; readonly sample: (random: Random) => string };

/** One row of the RE2 syntax: its name, its frequency, and a generator that combines smaller pieces. */
export type SyntaxRow = {
  readonly name: string;
  readonly weight: number;
  readonly make: (random: Random, inner: () => Piece) => Piece;
};

const fixed = (source: string, text: string): Piece => ({ source, sample: () => text });
const ofClass = ({ source, set }: ClassPart): Piece => ({ source, sample: (random) => memberOf(set, random) });
const bracketed = ({ source, set }: ClassPart): ClassPart => ({ source: `[${source}]`, set });
const row = (name: string, weight: number, make: SyntaxRow['make']): SyntaxRow => ({ name, weight, make });
const same = (name: string, weight: number, text = ''): SyntaxRow => row(name, weight, () => fixed(name, text));

const literals: readonly SyntaxRow[] = [
  row('x', 14, (random) => {
    const character = anyCharacter(random);
    return fixed([...character].map((one) => written(one, random)).join(''), character);
  }),
  row('a word', 8, (random) => {
    const letters = characters.filter((one) => /^\p{L}$/u.test(one));
    const text = Array.from({ length: random.between(2, 4) }, () => random.pick(letters)).join('');
    return fixed(text, text);
  }),
];

const classes: readonly SyntaxRow[] = [
  row('.', 6, () => ofClass({ source: '.', set: complement([10, 10]) })),
  ...[...'dDsSwW'].map((letter) => row(`\\${letter}`, 2, () => ofClass(perl(letter)))),
  row('\\pN', 2, (random) => ofClass(unicodeLetter(random, true))),
  row('\\PN', 1, (random) => ofClass(unicodeLetter(random, false))),
  row('\\p{Greek}', 4, (random) => ofClass(unicodeName(random, true))),
  row('\\P{Greek}', 2, (random) => ofClass(unicodeName(random, false))),
  row('\\p{^Greek}', 1, (random) => ofClass(unicodeName(random, random.chance(50), true))),
  row('[[:alpha:]]', 2, (random) => ofClass(bracketed(posix(random, true)))),
  row('[[:^alpha:]]', 1, (random) => ofClass(bracketed(posix(random, false)))),
  ...elementNames.flatMap((name) => [
    row(name, 2, (random) => ofClass(brackets(random, name, false))),
    row(name.replace('[', '[^'), 2, (random) => ofClass(brackets(random, name, true))),
  ]),
];

const controls = { a: '\u0007', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v' } as const;

const escapes: readonly SyntaxRow[] = [
  ...Object.entries(controls).map(([letter, text]) => same(`\\${letter}`, 1, text)),
  row('\\*', 2, (random) => {
    const sign = random.pick([...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']);
    return fixed(`\\${sign}`, sign);
  }),
  row('\\123', 1, (random) => {
    const rune = random.below(0o1000);
    return fixed(`\\${rune.toString(8).padStart(3, '0')}`, String.fromCodePoint(rune));
  }),
  row('\\x7F', 1, (random) => {
    const rune = random.below(256);
    return fixed(`\\x${rune.toString(16).padStart(2, '0')}`, String.fromCodePoint(rune));
  }),
  row('\\x{10FFFF}', 1, (random) => {
    const rune = random.pick([0, 0x2f, 0x7f, 0x80, 0x130, 0x131, 0x44f, 0xfffd, 0xffff, 0x1f600, 0x10ffff]);
    return fixed(`\\x{${rune.toString(16)}}`, String.fromCodePoint(rune));
  }),
  row('\\C', 2, (random) => fixed('\\C', random.pick([...'ab \n']))),
  row('\\Q...\\E', 2, (random) => {
    const text = `${noise(random, 3)}${random.pick(['', '.*', '(?<n>', '/', '\\', '[a', '{2}', '\\p{'])}`;
    return text.includes('\\E') ? fixed('\\Q\\E', '') : fixed(`\\Q${text}\\E`, text);
  }),
];

const anchors: readonly SyntaxRow[] = ['^', '$', '\\A', '\\z', '\\b', '\\B'].map((name) => same(name, 2));

function operand({ source }: Piece): string {
  return /^(?:\\?[^\\]|\[[^[\]\\]*\]|\\[pP]\{\w+\})$/su.test(source) ? source : `(?:${source})`;
}

function repeated(piece: Piece, operator: string, least: number, most: number): Piece {
  const sample = (random: Random): string =>
    Array.from({ length: random.between(least, Math.min(most, least + 3)) }, () => piece.sample(random)).join('');
  return { source: operand(piece) + operator, sample };
}

/** Mostly small repetition counts, sometimes the limits of RE2. */
function count(random: Random): number {
  return random.chance(2) ? random.pick([999, 1000, 1001, 31, 32]) : random.pick([0, 1, 1, 2, 2, 3, 4]);
}

type Counts = (random: Random) => { readonly text: string; readonly least: number; readonly most: number };

const counted: Readonly<Record<string, Counts>> = {
  '*': () => ({ text: '*', least: 0, most: Number.POSITIVE_INFINITY }),
  '+': () => ({ text: '+', least: 1, most: Number.POSITIVE_INFINITY }),
  '?': () => ({ text: '?', least: 0, most: 1 }),
  '{n,m}': (random) => {
    const [least, most] = [count(random), count(random)].sort((a, b) => a - b) as [number, number];
    return { text: `{${least},${most}}`, least, most };
  },
  '{n,}': (random) => {
    const least = count(random);
    return { text: `{${least},}`, least, most: Number.POSITIVE_INFINITY };
  },
  '{n}': (random) => {
    const least = count(random);
    return { text: `{${least}}`, least, most: least };
  },
};

const repeats: readonly SyntaxRow[] = Object.entries(counted).flatMap(([operator, counts]) =>
  ['', '?'].map((lazy) =>
    row(`x${operator}${lazy}`, 3, (random, inner) => {
      const { text, least, most } = counts(random);
      return repeated(inner(), text + lazy, least, most);
    }),
  ),
);

const around = (opening: string, piece: Piece): Piece => ({
  source: `${opening}${piece.source})`,
  sample: piece.sample,
});
const flags = ['i', 'm', 's', 'U', 'im', 'ims', 'imsU'] as const;

const groups: readonly SyntaxRow[] = [
  row('(re)', 3, (_, inner) => around('(', inner())),
  row('(?P<name>re)', 1, (random, inner) => around(`(?P<${random.pick(['n', 'имя', 'a_1', 'n0'])}>`, inner())),
  row('(?<name>re)', 1, (random, inner) => around(`(?<${random.pick(['n', 'имя', 'a_1', 'n0'])}>`, inner())),
  row('(?:re)', 2, (_, inner) => around('(?:', inner())),
  row('(?flags:re)', 4, (random, inner) => around(`(?${random.pick(flags)}:`, inner())),
  row('(?-flags:re)', 2, (random, inner) => around(`(?${random.pick(['', 'i', 's'])}-${random.pick(flags)}:`, inner())),
  row('(?flags)', 2, (random) => fixed(`(?${random.pick(flags)})`, '')),
  row('(?-flags)', 1, (random) => fixed(`(?${random.pick(['', 'i', 's'])}-${random.pick(flags)})`, '')),
];

const composites: readonly SyntaxRow[] = [
  row('xy', 14, (random, inner) => {
    const parts = Array.from({ length: random.between(2, 4) }, inner);
    return {
      source: parts.map(({ source }) => source).join(''),
      sample: (to) => parts.map((part) => part.sample(to)).join(''),
    };
  }),
  row('x|y', 5, (random, inner) => {
    const parts = Array.from({ length: random.between(2, 3) }, () => (random.chance(10) ? fixed('', '') : inner()));
    const source = parts.map((part) => part.source).join('|');
    return { source: random.chance(70) ? `(?:${source})` : source, sample: (to) => to.pick(parts).sample(to) };
  }),
];

/** Rows without operands. */
export const plainRows: readonly SyntaxRow[] = [...literals, ...classes, ...escapes, ...anchors];
/** Syntax whose pattern contains another pattern, such as a group or a repetition. */
export const nestingRows: readonly SyntaxRow[] = [...repeats, ...groups, ...composites];
