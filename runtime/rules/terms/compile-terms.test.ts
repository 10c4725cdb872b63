import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../e2e/support/verifies.ts';
import { prepare } from '../pattern/testing/prepare-pattern.ts';
import { compileLiterals } from './compile-literals.ts';
import { compileTokens } from './compile-tokens.ts';
import type { TermMatcher } from './term-list.ts';
import { findNaively } from './testing/naive-terms.ts';
import { termsAndText } from './testing/term-arbitrary.ts';

function found(matcher: TermMatcher, text: string): string[] {
  const bytes = Buffer.from(text);
  const spans = matcher.matches(bytes, 1_000);
  expect(matcher.test(bytes)).toBe(spans.length > 0);
  return spans.map(({ start, end }) => bytes.toString('utf8', start, end));
}

const substring = (terms: readonly string[], text: string, caseSensitive = true) =>
  found(compileLiterals({ terms, caseSensitive }), text);
const token = (terms: readonly string[], text: string, caseSensitive = true) =>
  found(compileTokens({ terms, caseSensitive }), text);

describe('substring match', () => {
  verifies(
    ['bundle:stop-list:match-substring'],
    'a stop-list term of the mode substring also matches inside a longer word',
    () => {
      expect(substring(['ban'], 'a banana, a band')).toEqual(['ban', 'ban']);
      expect(substring(['секрет'], 'несекретный')).toEqual(['секрет']);
    },
  );

  test('substring match is leftmost-longest and never overlapping', () => {
    expect(substring(['a', 'ab', 'abcd', 'cde'], 'abcabcde')).toEqual(['ab', 'abcd']);
    expect(substring(['aa'], 'aaaaa')).toEqual(['aa', 'aa']);
    expect(substring(['b', 'abc'], 'ab abc')).toEqual(['b', 'abc']);
  });

  test('the limit of matches shortens the list and changes no match', () => {
    const matcher = compileLiterals({ terms: ['x'], caseSensitive: true });
    const bytes = Buffer.from('x x x');
    expect(matcher.matches(bytes, 2)).toEqual([
      { start: 0, end: 1 },
      { start: 2, end: 3 },
    ]);
    expect(matcher.matches(bytes, 3)).toHaveLength(3);
    expect(matcher.matches(bytes, 0)).toEqual([]);
  });
});

describe('token match', () => {
  verifies(['bundle:stop-list:match-token'], 'a stop-list term of the mode token matches as a whole token only', () => {
    expect(token(['ban'], 'ban a banana, band: ban')).toEqual(['ban', 'ban']);
    expect(token(['секрет'], 'секрет несекретный секреты')).toEqual(['секрет']);
  });

  test.each([
    ['the underscore and digits belong to a token', ['foo'], 'foo_ foo1 _foo foo', ['foo']],
    ['combining marks belong to a token', ['e'], 'e\u0301 e', ['e']],
    ['numbers of other scripts belong to a token', ['a'], 'a٣ a½ a', ['a']],
    ['emoji and punctuation do not belong to a token', ['foo'], '😀foo😀 «foo»', ['foo', 'foo']],
    [
      'a term of several words with punctuation',
      ['foo-bar baz'],
      'foo-bar baz, foo-bar bazz, xfoo-bar baz',
      ['foo-bar baz'],
    ],
    ['a term that begins with punctuation', ['.net'], '.net asp.net ..net', ['.net', '.net']],
    ['a term that ends with punctuation', ['c++'], 'c++ c++11 c+++', ['c++', 'c++']],
    ['a term of punctuation alone', ['--'], 'a--b -- --', ['--', '--']],
    ['the longest term that is free on both sides', ['a', 'a!', 'a!b'], 'a!b a!bc', ['a!b', 'a']],
    ['the text may begin and end with the term', ['x'], 'x', ['x']],
    ['NUL is not a token character', ['x'], '\u0000x\u0000', ['x']],
  ])('token match: %s', (_, terms, text, expected) => {
    expect(token(terms, text)).toEqual(expected);
  });
});

describe('equality of characters', () => {
  verifies(
    ['bundle:stop-list:case-honoured'],
    'letter case of a stop list counts exactly when caseSensitive is set',
    () => {
      expect(substring(['Secret'], 'secret SECRET Secret')).toEqual(['Secret']);
      expect(substring(['Secret'], 'secret SECRET Secret', false)).toEqual(['secret', 'SECRET', 'Secret']);
      expect(token(['ёлка'], 'ЁЛКА ёлка', false)).toEqual(['ЁЛКА', 'ёлка']);
      expect(token(['ёлка'], 'ЁЛКА ёлка')).toEqual(['ёлка']);
    },
  );

  verifies(['bundle:stop-list:no-unicode-normalization'], 'composed and decomposed forms of a character differ', () => {
    expect(substring(['caf\u00e9'], 'cafe\u0301', false)).toEqual([]);
    expect(token(['й'], 'и\u0306', false)).toEqual([]);
    expect(substring(['ﬁ'], 'fi', false)).toEqual([]);
  });

  test.each([
    ['k', 'K\u212ak', ['K', '\u212a', 'k']],
    ['s', 'S\u017fs', ['S', '\u017f', 's']],
    ['ß', 'ẞßss', ['ẞ', 'ß']],
    ['ς', 'Σσς', ['Σ', 'σ', 'ς']],
    ['i', 'Iıİi', ['I', 'i']],
    ['ı', 'Iıİi', ['ı']],
    ['в', 'В\u1c80в', ['В', '\u1c80', 'в']],
  ])('characters are equal without case: %s', (term, text, expected) => {
    expect(substring([term], text, false)).toEqual(expected);
  });
});

describe('against the naive implementation', () => {
  for (const wholeTokens of [false, true]) {
    test(wholeTokens ? 'token lists' : 'substring lists', () => {
      fc.assert(
        fc.property(termsAndText, fc.boolean(), ({ terms, text }, caseSensitive) => {
          const compile = wholeTokens ? compileTokens : compileLiterals;
          const matcher = compile({ terms, caseSensitive });
          const bytes = Buffer.from(text);
          const expected = findNaively(terms, text, { caseSensitive, wholeTokens });
          expect(matcher.matches(bytes, 1_000)).toEqual(expected);
          expect(matcher.test(bytes)).toBe(expected.length > 0);
        }),
        { numRuns: 500 },
      );
    });
  }
});

test('one term is found exactly where the engine finds it as a quoted literal', () => {
  fc.assert(
    fc.property(termsAndText, fc.boolean(), ({ terms, text }, caseSensitive) => {
      const [term = 'a'] = terms;
      const quoted = Array.from(term, (character) => `\\x{${character.codePointAt(0)?.toString(16)}}`).join('');
      const bytes = Buffer.from(text);
      const ours = compileLiterals({ terms: [term], caseSensitive }).matches(bytes, 1_000);
      expect(ours).toEqual(prepare(quoted, caseSensitive).matches(bytes, 1_000));
    }),
    { numRuns: 150 },
  );
});

test('a bundle with the maximum of terms needs only tens of megabytes', () => {
  const terms = Array.from({ length: 40_000 }, (_, index) => `слово-${(index * 7919).toString(36)}`);
  const before = process.memoryUsage().arrayBuffers;
  const literals = compileLiterals({ terms, caseSensitive: false });
  const tokens = compileTokens({ terms, caseSensitive: false });
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  const text = Buffer.from(`x ${terms.at(-1)?.toUpperCase()} y`);
  expect(literals.matches(text, 2)).toHaveLength(1);
  expect(tokens.matches(text, 2)).toEqual([{ start: 2, end: text.length - 2 }]);
});
