import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countTokens } from '#models/count-tokens';
import { verifies } from '../../../e2e/support/verifies.ts';
import { type PackCandidate, packContext } from './pack-context.ts';

/** Number of budgets that the property test tries; a figure of the service. */
const budgets = 2_000;

const story =
  'Отпуск оплачивается полностью. Holidays are paid in full; see § 4.2.\n\n| день | day |\n|---|---|\n1234567 [a] — ' +
  'ёлка/ель 🎄🎄 http://example.org/путь?x=1\r\n\t  end.   [b]\n\n\n3.14 %% {"k":"v"} <|endoftext|> ';

/** A document that repeats a story, cut at random: chunks begin and end anywhere between whole characters. */
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
  () => {
    let checked = 0;
    fc.assert(
      fc.property(candidates, fc.integer({ min: 1, max: 700 }), (offered, budget) => {
        checked += 1;
        const packed = packContext(offered, budget, countTokens);
        expect(packed.tokens).toBe(countTokens(packed.context));
        expect(packed.tokens).toBeLessThanOrEqual(budget);
        const byId = new Map(offered.map((one) => [one.id, one]));
        const kept = packed.ids.map((id) => byId.get(id) as PackCandidate);
        expect(new Set(packed.ids).size).toBe(kept.length);
        for (const omitted of offered) {
          if (packed.ids.includes(omitted.id)) continue;
          const { context } = packContext([...kept, omitted], Number.MAX_SAFE_INTEGER, countTokens);
          expect(countTokens(context)).toBeGreaterThan(budget);
        }
      }),
      { numRuns: budgets },
    );
    expect(checked).toBe(budgets);
  },
);

verifies(
  ['retrieval:packed-context:packed-context', 'retrieval:packed-context:items-entered'],
  'the context contains the whole text of every packed chunk, including merged chunks',
  () => {
    fc.assert(
      fc.property(candidates, fc.integer({ min: 1, max: 700 }), (offered, budget) => {
        const { context, ids } = packContext(offered, budget, countTokens);
        for (const { id, text } of offered) if (ids.includes(id)) expect(context).toContain(text);
      }),
      { numRuns: 200 },
    );
  },
);

test('chunks of one document that overlap or touch are merged, so that no text occurs twice', () => {
  const text = 'The first part. The second part. The third part.';
  const part = (id: string, from: number, to: number) => chunk(id, text.slice(from, to), from, 'one');
  const packed = packContext([part('b', 16, 32), part('c', 32, 48), part('a', 0, 20)], 1_000, countTokens);
  expect(packed.context).toBe(text);
  expect(new Set(packed.ids)).toEqual(new Set(['a', 'b', 'c']));
});

test('chunks of two documents with the same offsets are not merged and keep the order of their rank', () => {
  const packed = packContext([chunk('two', 'Better.'), chunk('one', 'Good.')], 1_000, countTokens);
  expect(packed.context).toBe('Better.\n\nGood.');
});

test('a merged block shows the heading of its first chunk', () => {
  const later = { ...chunk('later', 'second', 5, 'doc'), title: 'Guide', heading: 'Pay' };
  const first = { ...chunk('first', 'first', 0, 'doc'), title: 'Guide', heading: 'Leave' };
  expect(packContext([later, first], 1_000, countTokens).context).toBe('[Guide / Leave]\nfirstsecond');
});

test('a chunk is packed with a token budget of exactly its size, and not with one token less', () => {
  const one = chunk('one', 'Holidays are paid in full.');
  const tokens = countTokens(one.text);
  expect(packContext([one], tokens, countTokens)).toEqual({ context: one.text, tokens, ids: ['one'] });
  expect(packContext([one], tokens - 1, countTokens)).toEqual({ context: '', tokens: 0, ids: [] });
});

test('a chunk that exceeds the token budget is skipped, and a later one that fits is packed', () => {
  const long = chunk('long', 'word '.repeat(100));
  expect(packContext([long, chunk('short', 'word')], 10, countTokens).ids).toEqual(['short']);
});

test('no candidates are packed into an empty context', () => {
  expect(packContext([], 10, countTokens)).toEqual({ context: '', tokens: 0, ids: [] });
});
