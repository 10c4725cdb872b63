import fc from 'fast-check';

/**
 * A small alphabet, so that terms overlap each other and the text: cases, case orbits of three, marks, punctuation,
 * digits.
 */
const CHARACTERS = Array.from('abKkKsSſßẞéеЕяЯςσΣiıİI1٣_-. \u0301😀\u0000');

/** Terms with common beginnings, ends and middles. */
const termList: fc.Arbitrary<string[]> = fc.array(
  fc.array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
  { minLength: 1, maxLength: 6 },
);

/** A text made of the same characters, and of the terms with their case changed. */
export const termsAndText: fc.Arbitrary<{ terms: string[]; text: string }> = termList.chain((terms) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...CHARACTERS),
        fc.constantFrom(...terms),
        fc.constantFrom(...terms.map((term) => term.toUpperCase())),
      ),
      { maxLength: 12 },
    )
    .map((parts) => ({ terms, text: parts.join('') })),
);
