import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyMasks, mergeMasks, type Replacement } from './merge-masks.ts';

const at = (start: number, end: number, text = '#'): Replacement => ({ start, end, text });
const merged = (...replacements: Replacement[]): unknown => {
  const outcome = mergeMasks(replacements);
  return outcome.ok ? outcome.replacements : outcome.code;
};

describe('replacements of several rules', () => {
  test('replacements of several rules that do not overlap are kept, in order', () => {
    expect(merged()).toEqual([]);
    expect(merged(at(5, 6), at(0, 2, 'x'))).toEqual([at(0, 2, 'x'), at(5, 6)]);
  });

  test('replacements of several rules that touch are not merged', () => {
    expect(merged(at(0, 2), at(2, 4))).toEqual([at(0, 2), at(2, 4)]);
    expect(merged(at(0, 2), at(2, 4, 'x'))).toEqual([at(0, 2), at(2, 4, 'x')]);
  });

  test('replacements of several rules that overlap with the same text become their union', () => {
    expect(merged(at(0, 3), at(2, 5))).toEqual([at(0, 5)]);
    expect(merged(at(0, 9), at(2, 5))).toEqual([at(0, 9)]);
    expect(merged(at(0, 3), at(0, 3))).toEqual([at(0, 3)]);
    expect(merged(at(0, 3), at(2, 5), at(4, 8))).toEqual([at(0, 8)]);
  });

  test('replacements of several rules that overlap with different texts cannot be applied', () => {
    expect(merged(at(0, 3), at(2, 5, 'x'))).toBe('invalid_replacement');
    expect(merged(at(0, 3), at(0, 3, 'x'))).toBe('invalid_replacement');
    expect(merged(at(0, 9), at(2, 3, 'x'))).toBe('invalid_replacement');
    expect(merged(at(0, 3), at(2, 8), at(5, 6, 'x'))).toBe('invalid_replacement');
    expect(merged(at(0, 3, ''), at(2, 5, ' '))).toBe('invalid_replacement');
  });

  test('replacements of several rules cover exactly the bytes that some rule covers, in any order of the rules', () => {
    const replacement = fc
      .tuple(fc.nat(30), fc.integer({ min: 1, max: 6 }))
      .map(([start, size]) => at(start, start + size));
    fc.assert(
      fc.property(fc.array(replacement, { maxLength: 8 }), (replacements) => {
        const forwards = mergeMasks(replacements);
        const backwards = mergeMasks([...replacements].reverse());
        expect(backwards).toEqual(forwards);
        if (!forwards.ok) throw new Error('one text never conflicts');
        const covered = (list: readonly Replacement[]): Set<number> =>
          new Set(list.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, index) => start + index)));
        expect(covered(forwards.replacements)).toEqual(covered(replacements));
        for (const [index, next] of forwards.replacements.slice(1).entries()) {
          expect(next.start).toBeGreaterThanOrEqual(forwards.replacements[index]?.end ?? 0);
        }
      }),
    );
  });
});

describe('a masked text', () => {
  const masked = (text: string, ...replacements: readonly Replacement[]): string =>
    applyMasks(text, Buffer.from(text, 'utf8'), replacements);

  test('a masked text keeps every byte outside of the replacements', () => {
    expect(masked('ёж 😀 ok')).toBe('ёж 😀 ok');
    expect(masked('ёж 😀 ok', at(0, 4, 'X'))).toBe('X 😀 ok');
    expect(masked('ёж 😀 ok', at(5, 9, ''), at(10, 12, '$&'))).toBe('ёж  $&');
    expect(masked('ёж 😀 ok', at(0, 12, ''))).toBe('');
  });

  test('masking yields the same text whether or not it is ASCII only', () => {
    expect(masked('a b c')).toBe('a b c');
    expect(masked('a b c', at(0, 1, 'ё'), at(2, 3, '$&'))).toBe('ё $& c');
    expect(masked('a b c', at(0, 5, ''))).toBe('');
  });
});
