import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Turns } from '#kit/concurrency/turns';
import { countTokens, countTokensInTurns } from '#models/count-tokens';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type PackCandidate, packAll, packContext, type TokenCounter } from './pack-context.ts';

const turns = new Turns();
const counter: TokenCounter = (text, most) => countTokensInTurns(text, turns, most);

/** Number of budgets that the property test tries; a figure of the service. */
const budgets = 2_000;

const story =
  'Отпуск оплачивается полностью. Holidays are paid in full; see § 4.2.\n\n| день | day |\n|---|---|\n1234567 [a] — ' +
  'ёлка/ель 🎄🎄 http://example.org/путь?x=1\r\n\t  end.   [b]\n\n\n3.14 %% {"k":"v"} <|endoftext|> ';

/** A document that repeats a story, split at random: chunks begin and end anywhere between whole characters. */
const document = fc
  .record({
    doc: fc.constantFrom('1', '2', '3'),
    title: fc.constantFrom(null, '', 'Отпуск', '1. Rules', '[draft]'),
    start: fc.nat(600),
    length: fc.integer({ min: 1, max: 300 }),
    heading: fc.constantFrom(null, '', 'Оплата', ' indented'),
  })
  .map(({ doc, title, heading, start, length }): Omit<PackCandidate, 'id'> => {
    const text = `${doc} ${story.repeat(6)}`;
    const from = wholeCharacter(text, start);
    const to = wholeCharacter(text, start + length);
    return { doc, title, heading, start: from, end: to, text: text.slice(from, to) };
  });

const candidates = fc
  .array(document, { minLength: 1, maxLength: 12 })
  .map((list) => list.map((one, at): PackCandidate => ({ id: `chunk-${at}`, ...one })));

function wholeCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

const chunk = (id: string, text: string, start = 0, doc = id): PackCandidate => ({
  ...{ id, doc, title: null, heading: null, text },
  ...{ start, end: start + text.length },
});

verifies(
  ['retrieval:packed-context:within-budget', 'retrieval:packed-context:token-count'],
  'no packed context has more tokens than its budget, its count is that of its text, and no omitted chunk would still fit',
  async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(candidates, fc.integer({ min: 1, max: 700 }), async (offered, budget) => {
        checked += 1;
        const packed = await packContext(offered, budget, counter);
        expect(packed.tokens).toBe(countTokens(packed.context));
        expect(packed.tokens).toBeLessThanOrEqual(budget);
        const byId = new Map(offered.map((one) => [one.id, one]));
        const kept = packed.ids.map((id) => byId.get(id) as PackCandidate);
        expect(new Set(packed.ids).size).toBe(kept.length);
        for (const omitted of offered) {
          if (packed.ids.includes(omitted.id)) continue;
          const { context } = await packContext([...kept, omitted], Number.MAX_SAFE_INTEGER, counter);
          expect(countTokens(context)).toBeGreaterThan(budget);
        }
        const all = await packContext(offered, Number.MAX_SAFE_INTEGER, counter);
        expect(await packAll(offered, all.tokens, counter)).toEqual(all);
        expect(await packAll(offered, all.tokens - 1, counter)).toBeUndefined();
      }),
      { numRuns: budgets },
    );
    expect(checked).toBe(budgets);
  },
);

verifies(
  ['retrieval:packed-context:packed-context', 'retrieval:packed-context:items-entered'],
  'the context contains the whole text of every packed chunk, including merged chunks',
  async () => {
    await fc.assert(
      fc.asyncProperty(candidates, fc.integer({ min: 1, max: 700 }), async (offered, budget) => {
        const { context, ids } = await packContext(offered, budget, counter);
        for (const { id, text } of offered) if (ids.includes(id)) expect(context).toContain(text);
      }),
      { numRuns: 200 },
    );
  },
);

test('chunks of one document that overlap or touch are merged, so that no text occurs twice', async () => {
  const text = 'The first part. The second part. The third part.';
  const part = (id: string, from: number, to: number) => chunk(id, text.slice(from, to), from, 'one');
  const packed = await packContext([part('b', 16, 32), part('c', 32, 48), part('a', 0, 20)], 1_000, counter);
  expect(packed.context).toBe(text);
  expect(new Set(packed.ids)).toEqual(new Set(['a', 'b', 'c']));
});

test('chunks of two documents with the same offsets are not merged and keep the order of their rank', async () => {
  const packed = await packContext([chunk('two', 'Better.'), chunk('one', 'Good.')], 1_000, counter);
  expect(packed.context).toBe('Better.\n\nGood.');
});

test('a merged block shows the heading of its first chunk', async () => {
  const later = { ...chunk('later', 'second', 5, 'doc'), title: 'Guide', heading: 'Pay' };
  const first = { ...chunk('first', 'first', 0, 'doc'), title: 'Guide', heading: 'Leave' };
  expect((await packContext([later, first], 1_000, counter)).context).toBe('[Guide / Leave]\nfirstsecond');
});

test('a chunk is packed with a token budget of exactly its size, and not with one token less', async () => {
  const one = chunk('one', 'Holidays are paid in full.');
  const tokens = countTokens(one.text);
  expect(await packContext([one], tokens, counter)).toEqual({ context: one.text, tokens, ids: ['one'] });
  expect(await packContext([one], tokens - 1, counter)).toEqual({ context: '', tokens: 0, ids: [] });
});

test('a chunk that exceeds the token budget is skipped, and a later chunk that fits is packed', async () => {
  const long = chunk('long', 'word '.repeat(100));
  expect((await packContext([long, chunk('short', 'word')], 10, counter)).ids).toEqual(['short']);
});

test('no candidates are packed into an empty context', async () => {
  expect(await packContext([], 10, counter)).toEqual({ context: '', tokens: 0, ids: [] });
});

test('a block that begins with a slash or white space is counted together with the previous block', async () => {
  const texts = ['An end.', '/path', ' indented', '- list', '9', '\u0301mark'];
  const offered = texts.map((text, at) => chunk(`chunk-${at}`, text));
  const { context, tokens } = await packContext(offered, 1_000, counter);
  expect(context).toBe(texts.join('\n\n'));
  expect(tokens).toBe(countTokens(context));
});

test('a text is not counted again for each candidate after it, and only up to the budget', async () => {
  const offered = Array.from({ length: 100 }, (_, at) => chunk(`chunk-${at}`, `text ${at} ${'word '.repeat(1_000)}`));
  let units = 0;
  const counted: TokenCounter = (text, most) => {
    units += text.length;
    return counter(text, most);
  };
  const { ids } = await packContext(offered, 200_000, counted);
  expect(ids.length).toBe(100);
  // The tokens of each block are counted once as the last block, and once before another block.
  expect(units).toBeLessThan(2.1 * 100 * 5_010);
  const long = chunk('long', 'word '.repeat(1_000_000));
  let tokens = 0;
  const bounded: TokenCounter = async (text, most) => {
    tokens = await counter(text, most);
    return tokens;
  };
  expect(await packAll([long], 100, bounded)).toBeUndefined();
  expect(tokens).toBeLessThan(200);
});

test('a block shows 256 units of its title and heading, so that a long one leaves room for the text', async () => {
  const long = { ...chunk('one', 'The text.'), title: 't'.repeat(256), heading: 'h'.repeat(100_000) };
  const { context, ids } = await packContext([long], 1_000, counter);
  expect(ids).toEqual(['one']);
  expect(context).toBe(`[${'t'.repeat(256)} / ${'h'.repeat(256)}]\nThe text.`);
});
