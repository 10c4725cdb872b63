import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileLiterals } from './compile-literals.ts';
import { findNaively } from './testing/naive-terms.ts';

/** ASCII characters, including pairs that differ in the same bit as letter cases but are not letters. */
const ASCII = Array.from('aAbBkKsS@`[{\u0000 0.');

const termsAndAscii = fc
  .array(
    fc.array(fc.constantFrom(...ASCII, 'K', 'ſ', 'я'), { minLength: 1, maxLength: 7 }).map((parts) => parts.join('')),
    { minLength: 1, maxLength: 5 },
  )
  .chain((terms) => {
    const inAscii = terms
      .map((term) => term.replaceAll('K', 'k').replaceAll('ſ', 'S').replaceAll('я', 'b'))
      .flatMap((term) => [term, term.toUpperCase()]);
    const text = fc.array(fc.constantFrom(...ASCII, ...inAscii), { maxLength: 14 }).map((parts) => parts.join(''));
    const texts = fc.array(text, { minLength: 8, maxLength: 8 });
    return fc.record({ terms: fc.constant(terms), texts, caseSensitive: fc.boolean() });
  });

test('in a text of ASCII a substring list finds the matches of the naive implementation', () => {
  fc.assert(
    fc.property(termsAndAscii, ({ terms, texts, caseSensitive }) => {
      const matcher = compileLiterals({ terms, caseSensitive });
      for (const text of texts) {
        const bytes = Buffer.from(text);
        const expected = findNaively(terms, text, { caseSensitive, wholeTokens: false });
        expect(matcher.matches(bytes, 1_000)).toEqual(expected);
        expect(matcher.test(bytes)).toBe(expected.length > 0);
      }
    }),
    { numRuns: 300 },
  );
});
