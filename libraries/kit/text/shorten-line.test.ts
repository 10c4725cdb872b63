import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortenLine } from './shorten-line.ts';

test.each([
  ['four word', 9, 'four word'],
  ['longer word', 9, 'longer'],
  ['four words', 9, 'four word'],
  ['four words of', 10, 'four words'],
  ['a bcdefghij', 10, 'a bcdefghi'],
  ['𝄞𝄞𝄞', 3, '𝄞'],
  ['abc', 0, ''],
] as const)('%j shortened to at most %d units is %j', (text, most, expected) => {
  expect(shortenLine(text, most)).toBe(expected);
});

test('every shortened text is a well-formed beginning of at least a quarter of its length', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 0, max: 80 }), (text, most) => {
      const given = text.replace(/\s+/g, ' ').trim();
      const short = shortenLine(given, most);
      expect(given.startsWith(short)).toBe(true);
      expect(short.length).toBeLessThanOrEqual(most);
      expect(short.isWellFormed()).toBe(true);
      if (given.length > most) expect(short.length).toBeGreaterThanOrEqual(Math.floor(most / 2) - 1);
    }),
  );
});
