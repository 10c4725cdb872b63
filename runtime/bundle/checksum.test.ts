import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Checksum } from '#contracts/checksums';
import { folds } from '#contracts/folds';
import type { BaselineRule } from '#contracts/policy';
import { checkedText } from '../rules/checked-text.ts';
import { numberEnd } from '../rules/checksum/number-end.ts';
import { preparedMatching } from '../rules/pattern/search/matching.ts';
import { bundle, bundleOf, masking, policy, quiet, regex, section } from '../testing/build-bundle.ts';
import { requestOutcomes } from '../testing/request-outcomes.ts';
import { acceptedPass } from './accepted-pass.ts';
import { compileBundle } from './compile-bundle.ts';
import { judgeDivision } from './division.ts';
import { parseBundle } from './parse-bundle.ts';
import { judgeStreaming } from './streaming.ts';

const card = '\\b\\d(?:[ -]?\\d){12,18}\\b';
const groups = '\\b\\d{4}(?:[ -]?\\d{4}){3}\\b';

function checked(pattern: string, checksum: Checksum, more: object = {}): ReturnType<typeof regex> {
  const rule = regex('number', pattern);
  return { ...rule, regex: { ...rule.regex, checksum, ...more } };
}

test('a pattern with a checksum denies numbers with valid check digits only', async () => {
  const texts = ['card 4111 1111 1111 1111.', 'order 4111 1111 1111 1112.', 'card 4111-1111-1111-1111', '12', ''];
  expect(await requestOutcomes([checked(card, 'luhn')], texts)).toEqual(['deny', 'pass', 'deny', 'pass', 'pass']);
});

test('a mask by a pattern with a checksum replaces valid numbers only', async () => {
  const rules = [masking(checked(card, 'luhn'), '[card]')];
  const texts = ['4111111111111111, 4111111111111112, 5555 5555 5555 4444'];
  expect(await requestOutcomes(rules, texts)).toEqual(['[card], 4111111111111112, [card]']);
});

test('a match without valid check digits does not hide a valid one that begins later inside of it', async () => {
  expect(await requestOutcomes([masking(checked(card, 'luhn'), '#')], ['12 4111 1111 1111 1111'])).toEqual(['12 #']);
});

test.each([
  ['a verification code', '4111 1111 1111 1111', ' 123'],
  ['a longer verification code', '4111 1111 1111 1111', ' 737'],
  ['an expiry date', '4111111111111111', ' 12/27'],
  ['an expiry date and a blank', '5555 5555 5555 4444', ' 05/28'],
  ['an amount', '378282246310005', ' 20 EUR'],
])('a card number is found where %s follows it', async (_, number, behind) => {
  expect(await requestOutcomes([masking(checked(card, 'luhn'), '#')], [number + behind])).toEqual([`#${behind}`]);
  const other = `6${number.slice(1)}${behind}`;
  expect(await requestOutcomes([checked(card, 'luhn')], [number + behind, other])).toEqual(['deny', 'pass']);
});

test('a number ends only where its pattern can, at the last place that has valid check digits', async () => {
  const mask = (pattern: string) => [masking(checked(pattern, 'luhn'), '#')];
  expect(await requestOutcomes(mask(card), ['41111111111111112'])).toEqual(['pass']);
  expect(await requestOutcomes(mask('\\b\\d{13,19}'), ['41111111111111112'])).toEqual(['#2']);
  expect(await requestOutcomes(mask(card), ['4111 1111 1111 1111 003'])).toEqual(['#']);
});

test.each([card, '\\b\\d(?:[ -]?\\d){12,18}'])(
  'with digits directly before a card number, all digits of the card number are masked: %s',
  async (pattern) => {
    const number = '4111 1111 1111 1111';
    const prefixes = Array.from({ length: 100 }, (_, at) => String(at).padStart(2, '0'));
    for (const behind of ['', ' 123', ' 12/27']) {
      const texts = prefixes.map((prefix) => `${prefix} ${number}${behind}`);
      for (const outcome of await requestOutcomes([masking(checked(pattern, 'luhn'), '#')], texts)) {
        const [, shown] = /^(?:\d\d )?#(.*)$/.exec(outcome) ?? [];
        expect([outcome, shown !== undefined && behind.endsWith(shown)]).toEqual([outcome, true]);
      }
    }
  },
);

test('folds and a checksum work together', async () => {
  const rules = [masking(checked(groups, 'luhn', { fold: [...folds] }), '#')];
  const texts = ['４１１１\u00a01111\u200b 1111 1111', '４１１１ 1111 1111 1112'];
  expect(await requestOutcomes(rules, texts)).toEqual(['#', 'pass']);
});

/**
 * Every number in a text, from each start to each end at which the pattern of cards finds one; overlapping numbers are
 * united.
 */
function numbersOf(text: string): readonly { readonly start: number; readonly end: number }[] {
  const bytes = Buffer.from(text);
  const latin = bytes.toString('latin1');
  const united: { readonly start: number; end: number }[] = [];
  for (let start = 0; start < latin.length; start += 1) {
    for (let end = start + 13; end <= latin.length; end += 1) {
      const isWhole = !/[0-9x]/.test(latin.charAt(start - 1) + latin.charAt(end));
      if (!isWhole || !/^\d(?:[ -]?\d){12,18}$/.test(latin.slice(start, end))) continue;
      if (numberEnd('luhn', bytes, start, [end]) < 0) continue;
      const last = united.at(-1);
      if (last === undefined || start >= last.end) united.push({ start, end });
      else last.end = Math.max(last.end, end);
    }
  }
  return united;
}

test('with a plan of places and by searching, every number is accepted, and those that overlap are one', () => {
  const limits = bundle([]).limits;
  const source = { pattern: card, caseSensitive: true, checksum: 'luhn' } as const;
  const find = (kind: 'prepared' | 'direct') => {
    const pass = acceptedPass(source, undefined, { limits, matching: { ...preparedMatching, kind } });
    if ('reason' in pass) throw new Error(pass.reason);
    return pass.find;
  };
  const [prepared, direct] = [find('prepared'), find('direct')];
  const pieces = ['4111 1111 1111 1111', '5555555555554444', '4', '11', ' ', '-', 'x', 'я', '0', '12 ', '06 ', '2026 '];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const found = prepared(checkedText(Buffer.from(text)), 100);
      expect(direct(checkedText(Buffer.from(text)), 100)).toEqual(found);
      expect(found).toEqual(numbersOf(text));
      expect(prepared(checkedText(Buffer.from(text)), 1)).toEqual(found.slice(0, 1));
      expect(direct(checkedText(Buffer.from(text)), 1)).toEqual(found.slice(0, 1));
    }),
    { numRuns: 2_000 },
  );
});

const compile = (rule: BaselineRule) => {
  const parsed = parseBundle(Buffer.from(JSON.stringify(bundleOf([rule]))));
  return parsed.ok && compileBundle(parsed, () => async () => ({ kind: 'allow' }));
};

test.each([
  ['a pattern that can match an empty text', '\\d*', 'it can match an empty text'],
  ['a pattern whose matches can begin at every place', '[0-9 ]{13,19}', 'begin the pattern with'],
])('with a checksum, %s is refused', (_, pattern, reason) => {
  expect(compile(checked(pattern, 'luhn'))).toMatchObject({
    ok: false,
    problems: [{ rule: 'number', message: expect.stringContaining(reason) }, {}],
  });
});

const streams = (rule: BaselineRule) =>
  judgeStreaming(bundle([policy(section([quiet]), section([rule]))])).streaming[0]?.allowed;

test('a response rule with a checksum allows streams if a match and its surrounding bytes fit into 256 bytes', () => {
  expect(streams(checked('\\b\\d{2,254}\\b', 'luhn'))).toBe(true);
  expect(streams(checked('\\b\\d{2,255}\\b', 'luhn'))).toBe(false);
  expect(streams(checked(card, 'luhn', { fold: [...folds] }))).toBe(true);
  expect(streams(checked('\\b\\d{2,41}\\b', 'luhn', { fold: [...folds] }))).toBe(false);
});

test('a pattern with a checksum and a repeat without a limit is refused as too costly, because a text can have many long matches of it', () => {
  const costs = (pattern: string) => compile(checked(pattern, 'mrz'));
  expect(costs('\\bsk-[A-Z0-9-]{20,}')).toMatchObject({ ok: false });
  expect(costs('\\bsk-[A-Z0-9-]{20,40}')).toMatchObject({ ok: true });
});

test('a request rule with a checksum allows documents if a match fits into the overlap of their pieces', () => {
  const divided = (rule: BaselineRule) => judgeDivision(bundle([policy(section([rule]))]))[0]?.allowed;
  expect(divided(checked('\\b[\\d ]{2,999}\\d{24}\\b', 'luhn'))).toBe(true);
  expect(divided(checked('\\b[\\d ]{2,999}\\d{25}\\b', 'luhn'))).toBe(false);
});
