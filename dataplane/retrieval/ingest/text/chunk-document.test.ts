import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCollectionSchema } from '#contracts/retrieval';
import { verifies } from '../../../../e2e/support/verifies.ts';
import { canonicalText } from './canonical-text.ts';
import { chunkDocument, chunkInContext } from './chunk-document.ts';
import { chunkingLimits } from './chunk-range.ts';
import { textBlocks } from './text-blocks.ts';

const word = fc.oneof(
  { weight: 6, arbitrary: fc.stringMatching(/^[a-zа-яё]{1,12}[.!?,]?$/) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom('👩‍👩‍👧', '𝄞𝄞𝄞', 'x'.repeat(300), '\0', '\ud800', '\u00a0') },
);
const separator = fc.constantFrom(' ', ' ', ' ', '\n', '\n\n', '\r\n', ' '.repeat(70), '\n\n\n\n\n');
const prose = fc
  .array(fc.tuple(word, separator), { maxLength: 120 })
  .map((pairs) => pairs.map(([text, space]) => text + space).join(''));
const cell = fc.oneof(
  prose.map((text) => text.slice(0, 40)),
  fc.integer(),
  fc.constant(null),
  fc.boolean(),
);
const table = fc.record(
  {
    caption: fc.constantFrom('Limits', 'Prices'),
    headers: fc.array(fc.stringMatching(/^[A-Z][a-z]{0,8}$/), { maxLength: 4 }),
    rows: fc.array(fc.oneof(fc.array(cell, { maxLength: 5 }), fc.dictionary(fc.string(), cell, { maxKeys: 4 }))),
  },
  { requiredKeys: ['rows'] },
);
const content = fc.record(
  {
    title: prose,
    sections: fc.array(fc.record({ heading: prose, text: prose }, { requiredKeys: ['text'] }), { maxLength: 4 }),
    tables: fc.array(table, { maxLength: 2 }),
    other: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const lengths = fc.integer({ min: chunkingLimits.minSize, max: 400 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    overlap: fc.integer({ min: 0, max: Math.floor(size * chunkingLimits.maxOverlapShare) }),
  }),
);

describe('chunking a document', () => {
  test('every character except white space between blocks is in a chunk, offsets are correct and sizes are limited', () => {
    fc.assert(
      fc.property(content, lengths, (given, chunking) => {
        const document = canonicalText(textBlocks(given as never));
        const chunks = [...chunkDocument(document, chunking)];
        const covered = new Uint8Array(document.text.length);
        for (const { start, end } of chunks) covered.fill(1, start, end);
        const missed = [...covered].flatMap((seen, at) => (seen === 0 ? [document.text[at]] : [])).join('');
        expect(missed).toMatch(/^\n*$/);
        expect(missed.length).toBe(Math.max(0, document.ranges.length - 1) * 2);
        for (const [at, chunk] of chunks.entries()) {
          expect(chunk.no).toBe(at);
          expect(chunk.text).toBe(document.text.slice(chunk.start, chunk.end));
          expect(chunk.text.length).toBeLessThanOrEqual(chunking.size);
          expect(chunk.text.trim()).not.toBe('');
          expect(chunk.text.isWellFormed()).toBe(true);
          const before = chunks[at - 1];
          if (before !== undefined) expect(before.start).toBeLessThan(chunk.start);
          if (before !== undefined && before.end > chunk.start) {
            expect(before.end - chunk.start).toBeLessThanOrEqual(chunking.overlap);
          }
        }
        const inside = ({ start, end }: { start: number; end: number }) =>
          document.ranges.some((range) => range.start <= start && end <= range.end);
        expect(chunks.every(inside)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('a row of a table that fits a chunk is never split, and every cell follows its header', () => {
    const cells = fc.array(fc.stringMatching(/^[a-z]{1,10}$/), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(cells, { minLength: 1, maxLength: 60 }), lengths, (rows, chunking) => {
        const document = canonicalText(textBlocks({ tables: [{ headers: ['A', 'B', 'C'], rows }] }));
        const expected = new Set(rows.map(([a, b, c]) => `A: ${a}; B: ${b}; C: ${c}`));
        for (const { text } of chunkDocument(document, chunking)) {
          for (const line of text.split('\n').filter(Boolean)) expect(expected).toContain(line);
        }
      }),
    );
  });

  verifies(['retrieval:limits:chunking-default'], 'a text is split at 800 characters with an overlap of 120', () => {
    const text = 'x'.repeat(2_000);
    const { chunking } = createCollectionSchema.parse({ name: 'a', embedding_profile_id: 'p' });
    const chunks = [...chunkDocument(canonicalText(textBlocks({ sections: [{ text }] })), chunking)];
    expect(chunks.map(({ start, end }) => [start, end])).toEqual([
      [0, 800],
      [680, 1480],
      [1360, 2000],
    ]);
  });

  test('a chunk ends with a paragraph, a sentence or a word, and the next begins with a sentence of the overlap', () => {
    const cut = (text: string, size = 60, overlap = 20) =>
      Array.from(
        chunkDocument(canonicalText(textBlocks({ sections: [{ text }] })), { size, overlap }),
        (one) => one.text,
      );
    expect(cut(`${'a'.repeat(40)}\n\n${'b'.repeat(40)}`)).toEqual([`${'a'.repeat(40)}\n\n`, 'b'.repeat(40)]);
    expect(cut('The first sentence is this. Here is one more. The last one is longer than it has to be.')).toEqual([
      'The first sentence is this. Here is one more. ',
      'Here is one more. The last one is longer than it has to be.',
    ]);
    expect(cut('one two three four five six seven eight nine ten eleven twelve', 50, 0)).toEqual([
      'one two three four five six seven eight nine ten ',
      'eleven twelve',
    ]);
  });

  test('every chunk contains the heading and page of its section, and the title is separate from the text', () => {
    const sections = [{ heading: 'Hotels', text: 'b '.repeat(60) }, { text: 'End.' }];
    const document = canonicalText(textBlocks({ title: 'Travel', sections, pages: [2, 3] }));
    expect(document.title).toBe('Travel');
    expect(document.text.startsWith('Hotels\nb b')).toBe(true);
    const chunks = [...chunkDocument(document, { size: 60, overlap: 10 })];
    expect(chunks.map(({ heading, page }) => [heading, page])).toEqual([
      ['Hotels', 2],
      ['Hotels', 2],
      ['Hotels', 2],
      [undefined, 3],
    ]);
    expect(chunkInContext('Travel', { text: 'b', heading: 'Hotels' })).toBe('Travel\nHotels\nb');
    expect(chunkInContext('Travel', { text: 'Hotels\nb', heading: 'Hotels' })).toBe('Travel\nHotels\nb');
    expect(chunkInContext('Travel', { text: 'Travel' })).toBe('Travel');
  });
});

describe('chunks of a long row', () => {
  test('a row of two million characters is searched for its line break once, not once for each chunk', () => {
    const text = 'x'.repeat(2_000_000);
    const document = { text, ranges: [{ kind: 'table', start: 0, end: text.length }] } as const;
    expect([...chunkDocument(document, { size: 50, overlap: 0 })]).toHaveLength(40_000);
  });
});

describe('the stored text of a document', () => {
  test('tables, other keys and a title alone are converted to text', () => {
    const text = (content: object) => canonicalText(textBlocks(content as never)).text;
    expect(text({ title: ' Only a title\0' })).toBe('Only a title\ufffd');
    expect(text({})).toBe('');
    expect(
      text({ tables: [{ title: 'Limits', columns: [{ name: 'City' }, 'Limit'], rows: [['Bern', 180], ['Kyiv']] }] }),
    ).toBe('Limits\nCity: Bern; Limit: 180\nCity: Kyiv');
    expect(text({ tables: [{ rows: [{ City: 'Bern', Tags: ['a', 'b'], none: null }], unit: 'CHF' }] })).toBe(
      'unit: CHF\nCity: Bern; Tags: a, b',
    );
    expect(text({ tables: [{ City: 'Bern', Limit: 180 }] })).toBe('City: Bern\nLimit: 180');
    expect(text({ author: { name: 'Ada', roles: ['x', 'y'] }, notes: [{ a: 1 }, 'b'], empty: [] })).toBe(
      'author.name: Ada\nauthor.roles: x, y\n\nnotes.0.a: 1\nnotes.1: b',
    );
  });

  test('page numbers are ignored if there are more or fewer of them than sections', () => {
    const pages = (given: unknown) =>
      textBlocks({ sections: [{ text: 'a' }, { text: 'b' }], pages: given as never }).blocks.map(({ page }) => page);
    expect(pages([1, 2])).toEqual([1, 2]);
    for (const wrong of [[1], [1, 0], [1, '2'], 'x', { 0: 1 }]) expect(pages(wrong)).toEqual([undefined, undefined]);
  });

  test('a text without NUL, unpaired surrogates and long white space is stored unchanged', () => {
    const text = 'Ein Satz.\n  Zeile mit Einzug.\n\nСъешь ещё 👍.';
    expect(canonicalText(textBlocks({ sections: [{ text }] })).text).toBe(text);
    const odd = `a\r\nb \u00a0\n${'\n'.repeat(9)}c${' '.repeat(16)}d${' '.repeat(17)}e`;
    expect(canonicalText(textBlocks({ sections: [{ text: odd }] })).text).toBe(`a\nb\n\nc${' '.repeat(16)}d e`);
  });

  test('a text with a million characters of white space in a row is read once, not once for each of them', () => {
    const spaces = ' \t'.repeat(500_000);
    const text = (given: string) => canonicalText(textBlocks({ sections: [{ text: given }] })).text;
    expect(text(`a${spaces}b`)).toBe('a b');
    expect(text(`a${spaces}\nb${spaces}`)).toBe('a\nb');
  });
});
