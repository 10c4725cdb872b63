import { describe, expect, test } from 'vitest';
import { prepare } from '../pattern/testing/prepare-pattern.ts';
import { readVendorTables } from '../pattern/testing/vendor-tables.ts';
import { foldOrbit, foldRepresentatives } from './case-fold.ts';
import { unicodeClass } from './classes.ts';
import tables from './re2-tables.json' with { type: 'json' };
import { complement, contains, MAX_RUNE, type RuneSet, runeSet } from './rune-set.ts';
import { tokenCharacters } from './token-character.ts';

const hex = (rune: number) => `\\x{${rune.toString(16)}}`;

/** Every code point that UTF-8 can hold, as one text. */
function everyCharacter(): Buffer {
  const parts: string[] = [];
  for (let rune = 0; rune <= MAX_RUNE; rune += 1)
    if (rune < 0xd800 || rune > 0xdfff) parts.push(String.fromCodePoint(rune));
  return Buffer.from(parts.join(''));
}

/** The code points that the engine matches. */
function matched(pattern: string, caseSensitive: boolean, text: Buffer): number[] {
  const spans = prepare(pattern, caseSensitive).matches(text, Number.POSITIVE_INFINITY);
  return spans.flatMap(({ start, end }) =>
    Array.from(text.toString('utf8', start, end), (c) => c.codePointAt(0) ?? -1),
  );
}

test('the generated Unicode tables equal those of the engine', () => {
  expect(tables).toEqual(readVendorTables());
  expect(Object.keys(tables.groups)).toHaveLength(199);
});

describe('case folding equals that of the engine for all code points', () => {
  const representatives = foldRepresentatives();
  const foldable = [...representatives.keys()].filter((rune) => foldOrbit(rune).length > 1);

  test('each member of an orbit matches the whole orbit in the engine', () => {
    const text = Buffer.from(foldable.map((rune) => String.fromCodePoint(rune)).join(''));
    const leaders = foldable.filter((rune) => representatives[rune] === rune);
    expect(leaders.length).toBeGreaterThan(1_400);
    for (const leader of leaders) {
      const orbit = [...foldOrbit(leader)].sort((a, b) => a - b);
      expect(matched(hex(orbit.at(-1) ?? 0), false, text)).toEqual(orbit);
    }
  });

  test('no code point outside an orbit folds to a member of it', () => {
    const ranges = runeSet(foldable.flatMap((rune) => [rune, rune]));
    const pairs = Array.from(
      { length: ranges.length / 2 },
      (_, at) => `${hex(ranges[2 * at] ?? 0)}-${hex(ranges[2 * at + 1] ?? 0)}`,
    );
    expect(matched(`[${pairs.join('')}]+`, false, everyCharacter())).toEqual(foldable);
  });

  test('members of an orbit share a representative, and are token characters together', () => {
    const isToken = tokenCharacters();
    for (const rune of foldable) {
      for (const other of foldOrbit(rune)) {
        expect(representatives[other]).toBe(representatives[rune]);
        expect(isToken[other]).toBe(isToken[rune]);
      }
    }
  });
});

test('Unicode classes equal the ranges of the engine', () => {
  const text = everyCharacter();
  for (const name of ['Lu', 'Mn', 'Nd', 'Cyrillic', 'Greek', 'Zs']) {
    const found = runeSet(matched(`\\p{${name}}+`, true, text).flatMap((rune) => [rune, rune]));
    expect(found).toEqual(unicodeClass(name));
  }
});

describe('sets of code points', () => {
  const set: RuneSet = runeSet([5, 9, 1, 2, 3, 3, 8, 12]);
  test('sets of code points join ranges that overlap or touch', () => expect(set).toEqual([1, 3, 5, 12]));
  test('sets of code points contain exactly their members on both sides of each edge', () => {
    const members = Array.from({ length: 15 }, (_, rune) => rune).filter((rune) => contains(set, rune));
    expect(members).toEqual([1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
  test('sets of code points have a complement, and its complement is the set', () => {
    expect(complement(set)).toEqual([0, 0, 4, 4, 13, MAX_RUNE]);
    expect(complement(complement(set))).toEqual(set);
    expect(complement([])).toEqual([0, MAX_RUNE]);
    expect(complement([0, MAX_RUNE])).toEqual([]);
  });
});
