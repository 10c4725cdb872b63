import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from './canonical-text.ts';
import { type JudgedDocument, textsOf, withTexts } from './guarded-texts.ts';
import { storedBlocks } from './stored-blocks.ts';
import { textBlocks } from './text-blocks.ts';

const document: JudgedDocument = {
  ...textBlocks({
    title: 'Title',
    sections: [{ heading: 'Head', text: 'Body' }, { text: 'Second' }],
    tables: [{ caption: 'Cap', headers: ['H'], rows: [['cell']] }],
    other: { key: 'value' },
  }),
  metadata: { url: 'https://x.example', labels: ['l1'], nested: { deep: 'text' } },
};

test('every text of a document is judged: title, headings, texts, tables, other keys, keys and strings of metadata', () => {
  expect(textsOf(document)).toEqual([
    ...['Title', 'Head', 'Body', 'Second', 'Cap', 'H: cell', 'other.key: value'],
    ...['url', 'https://x.example', 'labels', 'l1', 'nested', 'deep', 'text'],
  ]);
});

test('judged texts replace the original ones, and unchanged texts change nothing', () => {
  expect(withTexts(document, textsOf(document))).toEqual(document);
  const masked = withTexts(
    document,
    textsOf(document).map((text) => text.replaceAll(/[a-z]/g, '*')),
  );
  expect(masked.title).toBe('T****');
  expect(masked.blocks.map(({ heading, text }) => [heading, text])).toEqual([
    ['H***', 'B***'],
    [undefined, 'S*****'],
    ['C**', 'H: ****'],
    [undefined, '*****.***: *****'],
  ]);
  expect(masked.metadata).toEqual({ '***': '*****://*.*******', '******': { '****': '****' } });
});

test('a judgement with another number of texts than the document has is refused', () => {
  expect(() => withTexts(document, ['a'])).toThrow(/another number/);
});

test('the blocks of a stored text are those from which it was joined', () => {
  const content = fc.record({
    title: fc.oneof(fc.string(), fc.string({ minLength: 250, maxLength: 300 })),
    sections: fc.array(fc.record({ heading: fc.string(), text: fc.string() }, { requiredKeys: ['text'] })),
  });
  fc.assert(
    fc.property(content, (given) => {
      const stored = canonicalText(textBlocks(given));
      expect(canonicalText(storedBlocks(stored))).toEqual(stored);
    }),
  );
});

test('a heading that a policy masks with an empty text leaves the text below it unchanged', () => {
  const blocks = [{ kind: 'section', heading: '', text: 'Body' } as const];
  const stored = canonicalText({ blocks });
  expect(stored.text).toBe('Body');
  expect(storedBlocks(stored).blocks).toEqual([{ kind: 'section', text: 'Body' }]);
});
