import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileTokens } from './compile-tokens.ts';
import { findNaively } from './testing/naive-terms.ts';

/** Alphabets, alone and mixed: ASCII, Cyrillic, combining marks, case pairs of one, two, three and four bytes. */
const ALPHABETS = {
  ascii: Array.from('aAbBzZkKsS09_ .'),
  cyrillic: Array.from('вВёЁяЯ҂« —'),
  mixed: Array.from('aKkKsſSßẞéеЯ\u1c80ςΣ中١٣\u0301 ._«»—😀'),
  wide: Array.from('𐐀𐐨𝟘Ⓐⓐ中あK \u00a0a'),
} as const;

/**
 * Generates terms, and a text that contains them in several cases, after enough other text to fill more than one block.
 */
const longTexts = fc.constantFrom(...Object.values(ALPHABETS)).chain((alphabet) => {
  const wordOf = (maxLength: number) =>
    fc.array(fc.constantFrom(...alphabet), { minLength: 1, maxLength }).map((parts) => parts.join(''));
  const word = fc.oneof(wordOf(4), wordOf(12));
  return fc.array(word, { minLength: 1, maxLength: 5 }).chain((terms) => {
    const inText = fc.constantFrom(...terms, ...terms.map((term) => `.${term.toUpperCase()}.`), ...alphabet);
    return fc.record({
      terms: fc.constant(terms),
      text: fc.array(fc.oneof(word, inText), { maxLength: 12 }).map((words) => words.join('')),
      filler: fc.constantFrom('', 'z', 'z ', 'я', '. '),
      bytes: fc.oneof(fc.constant(0), fc.integer({ min: 4_070, max: 4_100 })),
      caseSensitive: fc.boolean(),
    });
  });
});

describe('token lists on long texts', () => {
  test('token lists on long texts find the matches of the naive implementation, wherever a block of the text ends', () => {
    fc.assert(
      fc.property(longTexts, ({ terms, text, filler, bytes, caseSensitive }) => {
        // No term contains a line break, so text before the break cannot change the matches after it.
        const before = bytes === 0 ? '' : `${filler.repeat(bytes / Math.max(1, filler.length))}\n`;
        const offset = Buffer.byteLength(before);
        const expected = findNaively(terms, text, { caseSensitive, wholeTokens: true });
        const found = compileTokens({ terms, caseSensitive })
          .matches(Buffer.from(before + text), 100_000)
          .flatMap(({ start, end }) => (start < offset ? [] : [{ start: start - offset, end: end - offset }]));
        expect(found).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('token lists on long texts find a run that is longer than a block', () => {
    const long = 'ж'.repeat(6_000);
    const matcher = compileTokens({ terms: [long], caseSensitive: false });
    expect(matcher.test(Buffer.from(`a ${long.toUpperCase()}.`))).toBe(true);
    expect(matcher.test(Buffer.from(`a ${long}ж.`))).toBe(false);
    expect(matcher.test(Buffer.from(`a ${long.slice(1)}.`))).toBe(false);
  });
});
