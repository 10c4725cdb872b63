import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compilePattern } from '../search/compile-pattern.ts';
import { patternText, severalTexts } from '../testing/pattern-arbitrary.ts';
import { parsePattern } from './parse-pattern.ts';
import { printPattern } from './print-pattern.ts';
import { trimForFiring } from './trim-for-firing.ts';

function printed(pattern: string, trim: boolean): string {
  const tree = parsePattern({ pattern, caseSensitive: true });
  if ('reason' in tree) throw new Error(tree.reason);
  return printPattern(trim ? trimForFiring(tree.node) : tree.node);
}

test.each([
  ['ab+', 'ab'],
  ['ab*', 'a'],
  ['a{2,5}', '(?:a){2,2}'],
  ['a(?:b|c+)', 'a(?:b|c)'],
  ['a(?:bc?)*', 'a'],
  ['ab+$', 'a(?:b){1,}\\z'],
  ['a{1,64}b', 'ab'],
  ['a*b', 'b'],
  ['(?:a{2,}|b?)c', '(?:(?:a){2,2}|(?:))c'],
  ['(?:ab+)+', 'ab'],
  ['(?:a+b)+c', '(?:(?:a){1,}b){1,}c'],
  ['^a+b', '\\A(?:a){1,}b'],
  ['a*', '(?:)'],
  ['a.{3,}', 'a(?:(?-i:[\\x{0}-\\x{9}\\x{b}-\\x{10ffff}])){3,3}'],
])('the pattern %s is trimmed to %s for a match test', (pattern, expected) => {
  expect(printed(pattern, true)).toBe(expected);
});

test('a printed pattern matches the same places, and a trimmed one the same texts', () => {
  fc.assert(
    fc.property(patternText, fc.boolean(), severalTexts, (pattern, caseSensitive, texts) => {
      const compiled = compilePattern({ pattern, caseSensitive });
      if ('reason' in compiled) return;
      const again = compilePattern({ pattern: printPattern(compiled.tree.node), caseSensitive: true });
      if ('reason' in again) throw new Error(again.reason);
      for (const text of texts) {
        const bytes = Buffer.from(text);
        const spans = compiled.matches(bytes, 5);
        expect(again.matches(bytes, 5)).toEqual(spans);
        expect(compiled.test(bytes)).toBe(spans.length > 0);
      }
    }),
    { numRuns: 250 },
  );
});
