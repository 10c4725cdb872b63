import { describe, expect, test } from 'vitest';
import { masking, regex, stopList } from '../testing/build-bundle.ts';
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

describe('masks that keep characters', () => {
  type Rule = ReturnType<typeof regex> | ReturnType<typeof stopList>;
  type Keep = { readonly keepFirst?: number; readonly keepLast?: number };
  const lintMask = (rule: Rule, keep: Keep) => {
    const masked = masking(rule, '****');
    return lintRule({ ...masked, action: { ...masked.action, ...keep } } as Rule);
  };
  const shows = (length: number, kept: number) => [
    `a match of ${length} characters shows ${kept} of them (keepFirst and keepLast): keep at most half of the shortest match, or match longer texts only`,
  ];

  test.each<[string, Keep, number, number]>([
    ['\\d{5}', { keepLast: 4 }, 5, 4],
    ['\\d{7}', { keepLast: 4 }, 7, 4],
    ['\\d{3,20}', { keepFirst: 2, keepLast: 2 }, 5, 4],
    ['\\d+', { keepFirst: 2 }, 3, 2],
    ['(?:key|token)-?\\w{2,9}', { keepLast: 4 }, 5, 4],
    ['пароль|код', { keepFirst: 2 }, 3, 2],
    ['\\C{9}', { keepLast: 4 }, 5, 4],
  ])(
    'a pattern with a match of which more than half stays visible causes a warning: %s',
    (pattern, keep, length, kept) => {
      expect(lintMask(regex('r', pattern), keep)).toEqual(shows(length, kept));
    },
  );

  test.each<[string, Keep]>([
    ['\\d{8}', { keepLast: 4 }],
    ['\\d{4}', { keepLast: 4 }],
    ['\\d{1,4}', { keepLast: 4 }],
    ['\\d{8,}', { keepFirst: 2, keepLast: 2 }],
    ['\\w+', { keepFirst: 1 }],
    ['abc|abcdefghij', { keepLast: 4 }],
    ['\\w+', {}],
  ])('a pattern whose matches show at most half, or nothing, causes no warning: %s', (pattern, keep) => {
    expect(lintMask(regex('r', pattern), keep)).toEqual([]);
  });

  test('the shortest number of a checksum counts, and not the shortest match of its pattern', () => {
    const card = regex('r', '\\b\\d[\\d ]{1,30}\\b');
    const luhn = { ...card, regex: { ...card.regex, checksum: 'luhn' as const } };
    expect(lintMask(luhn, { keepLast: 4 })).toEqual([]);
    expect(lintMask(luhn, { keepLast: 5 })).toEqual(shows(8, 5));
    expect(lintMask(card, { keepLast: 4 })).toEqual(shows(5, 4));
  });

  test('the shortest such term of a stop list is named by its length', () => {
    expect(lintMask(stopList('words', ['секретно', 'тайна', 'abcdef']), { keepLast: 4 })).toEqual(shows(5, 4));
    expect(lintMask(stopList('words', ['тайн', 'секретно']), { keepLast: 4 })).toEqual([]);
    expect(lintMask(stopList('words', ['😀😀😀😀']), { keepLast: 4 })).toEqual([]);
    expect(lintRule(stopList('words', ['тайна']))).toEqual([]);
  });
});
