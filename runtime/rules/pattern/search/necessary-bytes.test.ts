import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ByteRange } from '../../checked-text.ts';
import { checkedText } from '../../checked-text.ts';
import { matchableText, patternText } from '../testing/pattern-arbitrary.ts';
import { prepare } from '../testing/prepare-pattern.ts';
import { compilePattern } from './compile-pattern.ts';
import type { EnginePattern } from './engine.ts';
import { necessaryBytes, windowOf } from './necessary-bytes.ts';

const needed = (pattern: string, caseSensitive = true): string | undefined =>
  necessaryBytes([prepare(pattern, caseSensitive).tree.node])?.characters.join('');

describe('the bytes that a match needs', () => {
  test.each([
    ['the rarest of a sequence', '[a-z0-9._%+-]{1,64}@[a-z0-9-]{1,63}\\.[a-z]{2,24}', '@'],
    ['any of a class', '\\b\\d{4}', '0123456789'],
    ['one of each alternative', '(?:AKIA|sk-)x', 'x'],
    ['one of some alternative', 'a@|b#', '#@'],
    ['not what may be absent', 'a(?:@|#)?(?:z*)', 'a'],
    ['what is repeated', '(?:a@){2,}', '@'],
    ['the first bytes of wider characters', '[я€😀]', '\xd1\xe2\xf0'],
  ])('the bytes that every match of a pattern needs: %s', (_, pattern, expected) => {
    expect(needed(pattern)?.split('').toSorted().join('')).toBe(expected.split('').toSorted().join(''));
  });

  test('the necessary bytes of a case-insensitive pattern include the long s and the Kelvin sign', () => {
    expect(needed('k', false)?.split('').toSorted()).toEqual(['K', 'k', '\xe2']);
    expect(needed('s', false)?.split('').toSorted()).toEqual(['S', 's', '\xc5']);
  });

  test.each(['', 'a*', '^$', '\\b', 'a|b*', '\\C', '.', '[^a]', '\\w'])(
    'the necessary bytes are unknown for %s',
    (pattern) => {
      expect(needed(pattern)).toBeUndefined();
    },
  );

  test('the necessary bytes of several patterns are the union of the necessary bytes of each pattern', () => {
    const nodes = (...patterns: string[]) => patterns.map((pattern) => prepare(pattern).tree.node);
    expect(necessaryBytes(nodes('a@', 'b#', '@'))?.characters.toSorted()).toEqual(['#', '@']);
    expect(necessaryBytes(nodes('a@', 'b*'))).toBeUndefined();
  });
});

describe('the part of a text that matches are in', () => {
  const windowIn = (pattern: string, text: string): string | undefined => {
    const needed = necessaryBytes([prepare(pattern).tree.node]);
    if (needed === undefined) throw new Error('nothing is necessary');
    const checked = checkedText(Buffer.from(text));
    const window = windowOf(checked, needed);
    return window && checked.bytes.toString('utf8', window.start, window.end);
  };

  test.each([
    ['[a-z]{1,2}@[a-z]{1,3}', 'abcdef@ghijkl', 'def@ghij'],
    ['[a-z]{1,2}@[a-z]{1,3}', 'abcdef@ghijkl@mnopqr', 'def@ghijkl@mnop'],
    ['[a-z]*@[a-z]', 'abcdef@ghijkl', 'abcdef@gh'],
    ['[a-z]@[a-z]*', 'abcdef@ghijkl', 'ef@ghijkl'],
    ['[a-z]*@[a-z]*', 'abcdef@ghijkl', 'abcdef@ghijkl'],
    ['(?:a@b){2}', 'xxa@ba@bxx', 'xa@ba@bx'],
    ['(?:я|@@)#', 'жжжж#жж', 'ж#ж'],
    ['[a-z]{1,64}@[a-z]{1,63}', 'to whom ann@example com it', ' ann@example '],
    ['[a-z]*@[a-z]*', 'to whom ann@example com it', ' ann@example '],
    ['[a-zа-я]*@[а-я]', 'ждж анна@пример', ' анна@пр'],
    ['[a-zа-я]*@.', 'ждж анна@пример', 'ждж анна@при'],
    ['(?i)[a-z]{2}@', 'abKab-ab@', '-ab@'],
    ['(?s).{2}@', 'a  @', 'a  @'],
    ['@', 'abc', undefined],
    ['\\d', 'abcdef1ghi', 'abcdef1ghi'],
  ])('the part of a text that can contain matches of %s in %s: %s', (pattern, text, expected) => {
    expect(windowIn(pattern, text)).toBe(expected);
  });

  test.each([
    ['\\b[a-z]@', 'xxb@ b@'],
    ['\\B[a-z]@', 'xxb@ b@'],
    ['^[a-z]@', 'xxb@'],
    ['(?m)^[a-z]@', 'xxb@\nb@'],
    ['@[a-z]\\b', '@bxx @b'],
    ['@[a-z]\\B', '@bxx @b'],
    ['@[a-z]$', '@bxx'],
    ['(?m)@[a-z]$', '@bxx @b\nx'],
    ['я\\b', 'xxяzz xxя'],
    ['\\bя', 'xxяzz яxx'],
    ['(?:ab@){1,3}', 'xxab@ab@ab@ab@xx'],
    ['[a-z]+@', 'abc@def@@'],
    ['@.{0,3}#', '@a@b##@abcd#'],
  ])('the part of a text that can contain matches keeps the bytes around a match: %s in %s', (pattern, text) => {
    const { engine, matches } = prepare(pattern);
    for (const filler of ['', 'zzzzzzzz', 'яяяя', '    ', '\n\n\n\n']) {
      const bytes = Buffer.from(filler + text + filler);
      expect(matches(bytes, 100)).toEqual(allMatches(engine, bytes));
    }
  });

  test('searching only the part of a text that can match finds the matches of the whole text', () => {
    let found = 0;
    const filler = fc.constantFrom('', 'zzzzzzzz', 'яяяяяяяя', '        ', '\n\n\n\n');
    const padded = fc.tuple(filler, matchableText, filler).map((parts) => parts.join(''));
    fc.assert(
      fc.property(patternText, fc.array(padded, { maxLength: 8 }), fc.boolean(), (pattern, texts, caseSensitive) => {
        const compiled = compilePattern({ pattern, caseSensitive });
        if ('reason' in compiled || compiled.shape.canMatchEmpty) return;
        for (const text of texts) {
          const bytes = Buffer.from(text);
          const expected = allMatches(compiled.engine, bytes);
          found += expected.length;
          expect({ pattern, text, spans: compiled.matches(bytes, 100) }).toEqual({ pattern, text, spans: expected });
          expect(compiled.test(bytes)).toBe(expected.length > 0);
        }
      }),
      { numRuns: 400 },
    );
    expect(found).toBeGreaterThan(60);
  });
});

/** The non-empty matches that the engine itself finds. */
function allMatches(engine: EnginePattern, bytes: Buffer): ByteRange[] {
  const spans: ByteRange[] = [];
  for (let span = engine.find(bytes, 0); span !== undefined; span = engine.find(bytes, span.end)) spans.push(span);
  return spans;
}
