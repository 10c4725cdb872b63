import { describe, expect, test } from 'vitest';
import { regex, stopList } from '../testing/build-bundle.ts';
import { lintRule } from './lint-rule.ts';

const lintTerms = (...terms: readonly string[]) => lintRule(stopList('words', terms, { match: 'token' }));

describe('terms of a stop list', () => {
  test.each([
    '\\bстоп\\b',
    '\\bstop',
    'stop\\b',
    '\\w+',
    'card \\d{16}',
    'drop.*table',
    '(?i)stop',
    '(?:a|b)',
    '[a-z]+',
    '^stop$',
  ])('a term that is written as a regular expression causes a warning: %s', (term) => {
    expect(lintTerms('fine', term)).toEqual([
      'term 2 is written as a regular expression, and terms are literal texts: write the text, or use a rule of kind regex',
    ]);
  });

  test.each([' стоп', 'stop ', '\tstop', 'stop\u00a0'])(
    'a term with white space at an end causes a warning: %o',
    (term) => {
      const [warning] = lintTerms(term);
      expect(warning).toMatch(
        /^term 1 is found only together with outer white space, .*: remove the white space and use match: token$/,
      );
    },
  );

  test('a term that the allow-list of its rule contains causes a warning, because it is never found', () => {
    const allowing = (caseSensitive: boolean, allow: readonly string[]) =>
      lintRule(stopList('words', ['stop', 'Bank'], { match: 'token', caseSensitive, allow: [...allow] }));
    expect(allowing(false, ['bank'])).toEqual([
      'term 2 is never found, because allow lists the same text: remove one of them',
    ]);
    expect(allowing(true, ['bank'])).toEqual([]);
    expect(allowing(true, ['Bank'])).toHaveLength(1);
    expect(allowing(false, ['bank holiday'])).toEqual([]);
  });

  test('ordinary terms cause no warning', () => {
    const terms = [
      'стоп',
      'big dog',
      'c++',
      '.net',
      'node.js',
      'C:\\windows\\system32',
      'what?',
      '1*2',
      'a|b',
      '[redacted]',
      '[co-op]',
      '$HOME',
    ];
    expect(lintTerms(...terms, '(c)', '(?)', 'e.g. *', 'a^b$')).toEqual([]);
  });

  test('a warning names five terms and counts further ones', () => {
    const many = (count: number) => lintTerms(...Array.from({ length: count }, (_, at) => ` term ${at}`))[0];
    expect(many(5)).toMatch(/^terms 1, 2, 3, 4, 5 are found/);
    expect(many(6)).toMatch(/^terms 1, 2, 3, 4, 5 and 1 more are found/);
  });
});

describe('patterns', () => {
  test.each(['\\bстоп', 'стоп\\b', '\\b(?:стоп|stop)', '\\b[а-я]+', '[а-я]{2,3}\\b', '(?:да|нет)\\b'])(
    'a boundary next to a letter that is not ASCII causes a warning: %s',
    (pattern) => {
      expect(lintRule(regex('r', pattern))).toHaveLength(1);
    },
  );

  test.each(['\\bstop\\b', 'стоп', 'инн\\s\\d{10}\\b', '\\bstop стоп', 'c:\\\\bя'])(
    'a boundary in any other pattern causes no warning: %s',
    (pattern) => {
      expect(lintRule(regex('r', pattern))).toEqual([]);
    },
  );
});
