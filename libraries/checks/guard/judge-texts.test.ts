import { expect, test } from 'vitest';
import { checkBytes } from '../batch-messages.ts';
import { type CheckOutcome, failedCheck } from '../check-outcome.ts';
import { type AskGuard, judgeTexts } from './judge-texts.ts';

const bounds = { maxMessages: 3, maxBodyBytes: 8_192 };

/** A guard that masks numbers of four digits, denies a word, and records its calls. */
function guard({ maxMatches = 100 } = {}): { readonly ask: AskGuard; readonly asked: (readonly string[])[] } {
  const asked: (readonly string[])[] = [];
  const ask: AskGuard = async (texts): Promise<CheckOutcome> => {
    asked.push(texts);
    for (const content of texts) {
      expect(checkBytes({ role: 'user', content })).toBeLessThanOrEqual(bounds.maxBodyBytes);
    }
    if (texts.some((text) => text.includes('forbidden'))) return { kind: 'deny' };
    const found = texts.reduce((sum, text) => sum + (text.match(/\d{4}/g)?.length ?? 0), 0);
    if (found > maxMatches) return failedCheck('match_limit');
    return found === 0
      ? { kind: 'pass' }
      : { kind: 'mask', contents: texts.map((text) => text.replace(/\d{4}/g, '*')) };
  };
  return { ask, asked };
}

test('texts of a document that fit into a check are judged whole, as many together as a check allows, and empty ones are not sent', async () => {
  const { ask, asked } = guard();
  const texts = ['a', '', 'b 1234', 'c', 'd'];
  expect(await judgeTexts(ask, texts, bounds)).toEqual({ kind: 'passed', texts: ['a', '', 'b *', 'c', 'd'] });
  expect(asked).toEqual([['a', 'b 1234', 'c'], ['d']]);
  expect(await judgeTexts(ask, [], bounds)).toEqual({ kind: 'passed', texts: [] });
  expect(asked).toHaveLength(2);
});

test('a text at the limit of a check is judged whole, and a text with one more byte in overlapping pieces', async () => {
  const room = bounds.maxBodyBytes - checkBytes({ role: 'user', content: '' });
  const { ask, asked } = guard();
  const text = 'word '.repeat(room).slice(0, room);
  expect(await judgeTexts(ask, [text], bounds)).toEqual({ kind: 'passed', texts: [text] });
  expect(asked).toEqual([[text]]);
  const longer = `${text} `;
  expect(await judgeTexts(ask, [longer], bounds)).toEqual({ kind: 'passed', texts: [longer] });
  const [first = '', second = ''] = asked.slice(1).map(([piece = '']) => piece);
  expect(asked).toHaveLength(3);
  expect(longer.startsWith(first)).toBe(true);
  expect(longer.endsWith(second)).toBe(true);
  expect(first.length + second.length - longer.length).toBeGreaterThanOrEqual(1_024);
});

test('one denied text denies the complete set, even when it is one of a batch or a piece of a long text', async () => {
  const { ask } = guard();
  expect(await judgeTexts(ask, ['a', 'forbidden'], bounds)).toEqual({ kind: 'denied' });
  const long = `${'word '.repeat(5_000)}forbidden`;
  expect(await judgeTexts(ask, ['a', long], bounds)).toEqual({ kind: 'denied' });
});

test('texts with more masks than a check may have are judged in smaller pieces', async () => {
  const { ask } = guard({ maxMatches: 500 });
  const numbers = '1234 '.repeat(700);
  const masked = '* '.repeat(700);
  expect(await judgeTexts(ask, [numbers, 'a'], bounds)).toEqual({ kind: 'failed', check: failedCheck('match_limit') });
  const few = '12 1234 '.repeat(900);
  expect(await judgeTexts(guard({ maxMatches: 600 }).ask, [few], bounds)).toEqual({
    kind: 'passed',
    texts: ['12 * '.repeat(900)],
  });
  expect(await judgeTexts(guard({ maxMatches: 700 }).ask, [numbers, 'a'], bounds)).toMatchObject({
    texts: [masked, 'a'],
  });
});

test('a text without white space is refused when it does not fit into a check', async () => {
  const { ask } = guard();
  expect(await judgeTexts(ask, ['a', 'x'.repeat(9_000)], bounds)).toEqual({ kind: 'indivisible', index: 1 });
  expect(await judgeTexts(ask, ['x'.repeat(8_000)], bounds)).toMatchObject({ kind: 'passed' });
});

test('a failed check of a document is neither a pass nor a deny', async () => {
  const ask: AskGuard = async () => failedCheck('timeout');
  expect(await judgeTexts(ask, ['a'], bounds)).toEqual({ kind: 'failed', check: failedCheck('timeout') });
  expect(await judgeTexts(ask, ['word '.repeat(5_000)], bounds)).toEqual({
    kind: 'failed',
    check: failedCheck('timeout'),
  });
});

const answers = { stage: 'response', longTexts: 'windows' } as const;

test('a long text of an answer is judged in stream windows, several in one check, and a mask in one of them denies', async () => {
  const { ask, asked } = guard();
  const text = 'word '.repeat(2_000);
  expect(await judgeTexts(ask, ['a', text], bounds, answers)).toEqual({ kind: 'passed', texts: ['a', text] });
  const windows = asked.slice(0, -1);
  expect(windows.every((batch) => batch.length <= bounds.maxMessages)).toBe(true);
  expect(windows.flat().every((window) => window.length <= 1_280)).toBe(true);
  expect(windows.length).toBeLessThan(windows.flat().length);
  expect(asked.at(-1)).toEqual(['a']);
  expect(await judgeTexts(guard().ask, [`${text}1234`], bounds, answers)).toEqual({ kind: 'denied' });
  expect(await judgeTexts(guard().ask, [`${text}forbidden`], bounds, answers)).toEqual({ kind: 'denied' });
});

test('texts that may not be divided are judged one by one if they have too many masks together, and a long one is not sent', async () => {
  const reading = { stage: 'request', longTexts: 'refused' } as const;
  const numbers = '1234 '.repeat(60);
  const masked = '* '.repeat(60);
  const { ask, asked } = guard();
  expect(await judgeTexts(ask, [numbers, numbers], bounds, reading)).toMatchObject({ texts: [masked, masked] });
  expect(asked).toEqual([[numbers, numbers], [numbers], [numbers]]);
  const many = '1234 '.repeat(101);
  expect(await judgeTexts(ask, [many], bounds, reading)).toMatchObject({ check: { code: 'match_limit' } });
  const before = asked.length;
  expect(await judgeTexts(ask, ['word '.repeat(2_000)], bounds, reading)).toEqual({ kind: 'indivisible', index: 0 });
  expect(asked).toHaveLength(before);
});
