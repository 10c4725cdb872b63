import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../search/compile-pattern.ts';
import { patternText, severalTexts } from '../testing/pattern-arbitrary.ts';
import { prepare } from '../testing/prepare-pattern.ts';

const none = { canMatchEmpty: false, anchored: false, usesAnyByte: false };
const open = Number.POSITIVE_INFINITY;

describe('shapes', () => {
  test.each([
    ['abc', true, { minBytes: 3, maxBytes: 3, minCharacters: 3, maxCharacters: 3, ...none }],
    ['я', true, { minBytes: 2, maxBytes: 2, minCharacters: 1, maxCharacters: 1, ...none }],
    ['k', false, { minBytes: 1, maxBytes: 3, minCharacters: 1, maxCharacters: 1, ...none }],
    ['s', false, { minBytes: 1, maxBytes: 2, minCharacters: 1, maxCharacters: 1, ...none }],
    ['ß', false, { minBytes: 2, maxBytes: 3, minCharacters: 1, maxCharacters: 1, ...none }],
    ['.', true, { minBytes: 1, maxBytes: 4, minCharacters: 1, maxCharacters: 1, ...none }],
    ['a.{0,60}b', true, { minBytes: 2, maxBytes: 242, minCharacters: 2, maxCharacters: 62, ...none }],
    ['a|bcd', true, { minBytes: 1, maxBytes: 3, minCharacters: 1, maxCharacters: 3, ...none }],
    ['a+', true, { minBytes: 1, maxBytes: open, minCharacters: 1, maxCharacters: open, ...none }],
    ['a*', true, { minBytes: 0, maxBytes: open, minCharacters: 0, maxCharacters: open, ...none, canMatchEmpty: true }],
    ['a{2,4}', true, { minBytes: 2, maxBytes: 4, minCharacters: 2, maxCharacters: 4, ...none }],
    ['(?:a|)b?', true, { minBytes: 0, maxBytes: 2, minCharacters: 0, maxCharacters: 2, ...none, canMatchEmpty: true }],
    ['', true, { minBytes: 0, maxBytes: 0, minCharacters: 0, maxCharacters: 0, ...none, canMatchEmpty: true }],
    ['\\b', true, { minBytes: 0, maxBytes: 0, minCharacters: 0, maxCharacters: 0, ...none, canMatchEmpty: true }],
    ['(?:\\b)*', true, { minBytes: 0, maxBytes: 0, minCharacters: 0, maxCharacters: 0, ...none, canMatchEmpty: true }],
    ['\\bab', true, { minBytes: 2, maxBytes: 2, minCharacters: 2, maxCharacters: 2, ...none }],
    ['^ab', true, { minBytes: 2, maxBytes: 2, minCharacters: 2, maxCharacters: 2, ...none, anchored: true }],
    ['ab$', true, { minBytes: 2, maxBytes: 2, minCharacters: 2, maxCharacters: 2, ...none, anchored: true }],
    ['\\Aab|c', true, { minBytes: 1, maxBytes: 2, minCharacters: 1, maxCharacters: 2, ...none, anchored: true }],
    ['a\\z', true, { minBytes: 1, maxBytes: 1, minCharacters: 1, maxCharacters: 1, ...none, anchored: true }],
    ['(?m)a$', true, { minBytes: 1, maxBytes: 1, minCharacters: 1, maxCharacters: 1, ...none, anchored: true }],
    ['a{0}', true, { minBytes: 0, maxBytes: 0, minCharacters: 0, maxCharacters: 0, ...none, canMatchEmpty: true }],
    ['\\Ca', true, { minBytes: 2, maxBytes: 2, minCharacters: 1, maxCharacters: 2, ...none, usesAnyByte: true }],
    ['\\p{Cyrillic}', true, { minBytes: 2, maxBytes: 4, minCharacters: 1, maxCharacters: 1, ...none }],
  ] as const)('the shape of the pattern is correct for %s, case sensitive %s', (pattern, caseSensitive, shape) => {
    expect(prepare(pattern, caseSensitive).shape).toEqual(shape);
  });
});

test('the length of every match is within the bounds of the shape', () => {
  fc.assert(
    fc.property(patternText, fc.boolean(), severalTexts, (pattern, caseSensitive, texts) => {
      const compiled = compilePattern({ pattern, caseSensitive });
      if ('reason' in compiled) return;
      const { minBytes, maxBytes, minCharacters, maxCharacters, canMatchEmpty, usesAnyByte } = compiled.shape;
      for (const bytes of texts.map((text) => Buffer.from(text)))
        for (const { start, end } of compiled.matches(bytes, 20)) {
          expect(end - start).toBeGreaterThanOrEqual(minBytes);
          expect(end - start).toBeLessThanOrEqual(maxBytes);
          const { length } = [...bytes.toString('utf8', start, end)];
          if (!usesAnyByte) expect(length).toBeLessThanOrEqual(maxCharacters);
          expect(length).toBeGreaterThanOrEqual(minCharacters);
          if (end === start) expect(canMatchEmpty).toBe(true);
        }
    }),
    { numRuns: 200 },
  );
});
