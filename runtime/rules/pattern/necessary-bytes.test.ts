import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byteStringOf } from './checked-text.ts';
import { openPattern } from './engine.ts';
import { hasOneOf, necessaryBytes } from './necessary-bytes.ts';
import { parsePattern } from './parse-pattern.ts';
import { matchableText, patternText } from './testing/pattern-arbitrary.ts';
import { prepare } from './testing/prepare-pattern.ts';

const needed = (pattern: string, caseSensitive = true): string | undefined =>
  necessaryBytes([prepare(pattern, caseSensitive).tree.node])?.join('');

describe('the bytes that a match needs', () => {
  test.each([
    ['the rarest of a sequence', '[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\\.[a-z]{2,24}', '@'],
    ['any of a class', '\\b\\d{4}', '0123456789'],
    ['one of each alternative', '(?:AKIA|sk-)x', 'x'],
    ['one of some alternative', 'a@|b#', '#@'],
    ['not what may be absent', 'a(?:@|#)?(?:z*)', 'a'],
    ['what is repeated', '(?:a@){2,}', '@'],
    ['the first bytes of wider characters', '[я€😀]', '\xd1\xe2\xf0'],
  ])('%s', (_, pattern, expected) => {
    expect(needed(pattern)?.split('').toSorted().join('')).toBe(expected.split('').toSorted().join(''));
  });

  test('are those of all cases: the long s and the sign of kelvin too', () => {
    expect(needed('k', false)?.split('').toSorted()).toEqual(['K', 'k', '\xe2']);
    expect(needed('s', false)?.split('').toSorted()).toEqual(['S', 's', '\xc5']);
  });

  test.each(['', 'a*', '^$', '\\b', 'a|b*', '\\C', '.', '[^a]', '\\w'])('are unknown for %s', (pattern) => {
    expect(needed(pattern)).toBeUndefined();
  });

  test('of several patterns are those of any of them', () => {
    const nodes = (...patterns: string[]) => patterns.map((pattern) => prepare(pattern).tree.node);
    expect(necessaryBytes(nodes('a@', 'b#', '@'))?.toSorted()).toEqual(['#', '@']);
    expect(necessaryBytes(nodes('a@', 'b*'))).toBeUndefined();
  });
});

test('a text in which the engine finds a pattern has one of its necessary bytes', () => {
  let found = 0;
  fc.assert(
    fc.property(
      patternText,
      fc.array(matchableText, { maxLength: 8 }),
      fc.boolean(),
      (pattern, texts, caseSensitive) => {
        const tree = parsePattern({ pattern, caseSensitive });
        if ('reason' in tree) return;
        const engine = openPattern(tree.engineSource, caseSensitive);
        const characters = necessaryBytes([tree.node]);
        if ('refused' in engine || characters === undefined) return;
        for (const text of texts) {
          const bytes = Buffer.from(text);
          if (engine.find(bytes, 0) === undefined) continue;
          found += 1;
          expect({ pattern, text, has: hasOneOf(byteStringOf(bytes), characters) }).toEqual({
            pattern,
            text,
            has: true,
          });
        }
      },
    ),
    { numRuns: 6_000 },
  );
  expect(found).toBeGreaterThan(300);
});
