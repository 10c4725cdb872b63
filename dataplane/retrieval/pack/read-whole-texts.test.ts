import { expect, test } from 'vitest';
import { Turns } from '#kit/concurrency/turns';
import { createByteBudget } from '#kit/http/byte-budget';
import { countTokens, countTokensInTurns } from '#models/count-tokens';
import { readWholeTexts, type WholeTexts, wholeTextLimits } from './read-whole-texts.ts';

const turns = new Turns();
const megabyte = 1_048_576;

/** Documents of these texts, with the number of characters of each reading. */
function documentsOf(texts: Readonly<Record<string, string>>) {
  const reads: number[] = [];
  const source: WholeTexts = {
    async length(most) {
      const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
      return length > most ? undefined : length;
    },
    async read(docs, first) {
      const found = docs.map((doc) => ({ doc, text: (texts[doc] ?? '').slice(0, first) }));
      reads.push(found.reduce((sum, { text }) => sum + text.length, 0));
      return found;
    },
  };
  return { source, reads, docs: Object.keys(texts) };
}

function openBudget(limit: number = wholeTextLimits.bytes) {
  return createByteBudget({ limit, largest: Math.min(limit, wholeTextLimits.ofRequest), waitMs: 0 });
}

async function read(texts: Readonly<Record<string, string>>, budget: number, held = openBudget().open()) {
  const { source, reads, docs } = documentsOf(texts);
  const counter = (text: string, most: number) => countTokensInTurns(text, turns, most);
  const found = await readWholeTexts(source, docs, { budget, countTokens: counter, held });
  return { found: typeof found === 'string' ? found : found.map(({ text }) => text.length), reads };
}

test('of a document of 16 million characters in ordinary words only the beginning is read', async () => {
  const text = 'Отпуск оплачивается. '.repeat(790_000);
  expect(text.length).toBeGreaterThan(16_000_000);
  expect(await read({ a: text }, 200_000)).toEqual({ found: 'too_long', reads: [1_600_000] });
});

test('the beginnings of long documents are read one after another, until they have more tokens than the budget', async () => {
  const text = 'word '.repeat(200_000);
  const { found, reads } = await read({ a: text, b: text, c: text }, 300_000);
  expect(found).toBe('too_long');
  expect(reads).toEqual([1_000_000, 1_000_000]);
});

test('a long text with few tokens is read as a whole, and one of a megabyte without a look at its beginning', async () => {
  const lines = '-'.repeat(4 * megabyte);
  expect(countTokens(lines)).toBeLessThan(200_000);
  expect(await read({ a: lines }, 200_000)).toEqual({ found: [lines.length], reads: [1_600_000, lines.length] });
  const short = lines.slice(0, megabyte);
  expect(await read({ a: short }, 200_000)).toEqual({ found: [megabyte], reads: [megabyte] });
});

test('texts are held until the request ends, and a text for which other requests leave no memory is not read', async () => {
  const limit = 100_000 * 8;
  const budget = openBudget(limit);
  const text = 'word '.repeat(20_000);
  {
    using first = budget.open();
    expect((await read({ a: text }, 200_000, first)).found).toEqual([100_000]);
    expect(budget.taken).toBe(limit);
    using second = budget.open();
    expect(await read({ a: 'w' }, 200_000, second)).toEqual({ found: 'overloaded', reads: [] });
  }
  using later = budget.open();
  expect((await read({ a: text }, 200_000, later)).found).toEqual([100_000]);
});
