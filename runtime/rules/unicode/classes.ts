import tables from './re2-tables.json' with { type: 'json' };
import { ANY_RUNE, type RuneSet, runeSet } from './rune-set.ts';

const packed: Readonly<Record<string, string>> = tables.groups;
const unpacked = new Map<string, RuneSet>();

const POSIX: Readonly<Record<string, RuneSet>> = {
  alnum: [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a],
  alpha: [0x41, 0x5a, 0x61, 0x7a],
  ascii: [0x0, 0x7f],
  blank: [0x9, 0x9, 0x20, 0x20],
  cntrl: [0x0, 0x1f, 0x7f, 0x7f],
  digit: [0x30, 0x39],
  graph: [0x21, 0x7e],
  lower: [0x61, 0x7a],
  print: [0x20, 0x7e],
  punct: [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e],
  space: [0x9, 0xd, 0x20, 0x20],
  upper: [0x41, 0x5a],
  word: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
  xdigit: [0x30, 0x39, 0x41, 0x46, 0x61, 0x66],
};

const PERL: Readonly<Record<string, RuneSet>> = {
  d: [0x30, 0x39],
  s: [0x9, 0xa, 0xc, 0xd, 0x20, 0x20],
  w: [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a],
};

/** The Unicode class of `\p{name}`, a general category, a script or Any, with the ranges of the engine's own tables; undefined for an unknown name. */
export function unicodeClass(name: string): RuneSet | undefined {
  if (name === 'Any') return ANY_RUNE;
  const known = unpacked.get(name);
  if (known !== undefined) return known;
  const text = Object.hasOwn(packed, name) ? packed[name] : undefined;
  if (text === undefined) return undefined;
  let last = 0;
  const bounds = text.split(' ').map((step) => {
    last += Number.parseInt(step, 36);
    return last;
  });
  const set = runeSet(bounds);
  unpacked.set(name, set);
  return set;
}

/** The class of `[:name:]`; undefined for an unknown name. */
export function posixClass(name: string): RuneSet | undefined {
  return Object.hasOwn(POSIX, name) ? POSIX[name] : undefined;
}

/** The ASCII class of `\d`, `\s` or `\w`, by its lower-case letter. */
export function perlClass(letter: string): RuneSet | undefined {
  return Object.hasOwn(PERL, letter) ? PERL[letter] : undefined;
}
