import { describe, expect, test, vi } from 'vitest';
import { english } from './english-statements.ts';
import { extractFacts } from './extract-facts.ts';
import { readQuotedFact } from './quoted-fact.ts';
import { readChange, readForgotten, readLaterStatement, readStatement } from './read-statement.ts';
import { russian } from './russian-statements.ts';
import { findAmbiguity } from './testing/find-ambiguity.ts';

const saidAt = new Date('2026-05-04T10:00:00Z');
const longest = 300;

/** Every reader of a text that a user writes. */
function readAll(text: string): void {
  readStatement(text);
  readForgotten(text);
  readChange(text, true);
  readLaterStatement(text);
  extractFacts({ role: 'user', content: text, saidAt }, 0);
  readQuotedFact(text, saidAt, { text, quote: text, isRequest: false });
}

/** All patterns of the languages, and the other patterns that the readers use. */
function everyPattern(): readonly RegExp[] {
  const found = new Map<string, RegExp>();
  const add = (pattern: RegExp) => found.set(`${pattern}`, new RegExp(pattern.source, pattern.flags));
  const visit = (value: unknown): void => {
    if (value instanceof RegExp) add(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit([english, russian]);
  const { exec } = RegExp.prototype;
  const spy = vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    add(this);
    return exec.call(this, text);
  });
  const texts = [
    'I live in Rome, I left Volvo yesterday',
    'я живу в Риме, вчера бросил курить',
    'Translate this:\nhi',
    '"I am"',
  ];
  for (const text of [...texts, ...texts.map((one) => `${one}, don't I?`)]) readAll(text);
  spy.mockRestore();
  return [...found.values()];
}

describe('patterns that are read in more than one way', () => {
  test.each([
    [/^(?:a+)+b/, 'a'],
    [/^(?:a* ?)*b/, 'a'],
    [/^(?:\p{L}+ ?)+$/u, 'A'],
    [/^(?:a|b|ab)*c/, 'ab'],
    [/^(?:x(?:a{0,3}|ab)?)*c/, 'xa'],
    [/^a(?=(?:b|b)*c)/, 'b'],
  ])('the repeated text of the pattern %s is found', (pattern, text) => {
    expect(new Set(findAmbiguity(pattern))).toEqual(new Set(text));
  });

  test.each([
    /^(?:\p{L}+ )+$/u,
    /^(?:a|b|ac)*c/,
    /^(?:[ab]+c?)*/,
    /^(?:\)\)+(?!\)))+x/,
    /^(?:(?-i:[A-Z])|(?-i:[a-z]))*x/iu,
    /^a{1,40}b*b*c/,
  ])('the pattern %s has no repeated text', (pattern) => {
    expect(findAmbiguity(pattern)).toBeUndefined();
  });
});

test('no pattern of the readers takes time that doubles with each repetition of a text', () => {
  const patterns = everyPattern();
  expect(patterns.length).toBeGreaterThan(500);
  expect(patterns.flatMap((pattern) => (findAmbiguity(pattern) === undefined ? [] : [`${pattern}`]))).toEqual([]);
});

/** Words that the readers repeat; the end fits no form, so that every way to read them is tried. */
const units = [
  ' word',
  ' now',
  ' and',
  ' in',
  ', x',
  'a',
  ' a-',
  ')',
  ' haha',
  ' слово',
  ' уже',
  ' да и',
  ' в',
  ', я',
  'я',
  ' хаха',
];
const beginnings = [
  'I live with my',
  'I am',
  'I like',
  'my favourite',
  "I've been",
  'my',
  '',
  'я живу с',
  'у меня',
  'работаю',
  'не',
];

test.each(units)('the readers end with a clause and with a long text that repeat "%s" and fit no form', (unit) => {
  const textOf = (beginning: string, length: number): string =>
    `${`${beginning}${unit.repeat(length)}`.slice(0, length - 2)} '`;
  for (const beginning of beginnings) readAll(textOf(beginning, longest));
  readAll(textOf('I live with my', 10_000));
});
