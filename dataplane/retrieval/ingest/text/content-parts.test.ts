import { describe, expect, test } from 'vitest';
import { longTextOf } from './content-parts.ts';
import type { DocumentContent } from './document-content.ts';
import { textBlocks } from './text-blocks.ts';

const most = 16_777_216;
const header = 'h'.repeat(65_535 - 3);
/** Lines of 65,535 characters, which with their ends are 65,536: 256 of them have the most characters. */
const tableOf = (rows: number) => ({ headers: [header], rows: Array.from({ length: rows }, () => [1]) });
/** Lines with the path to their value, each of more than 65,536 characters. */
const membersOf = (lines: number) => ({ [`${header}hhhh`]: Array.from({ length: lines }, () => ({ a: 1 })) });

function pathOf(content: DocumentContent): readonly (string | number)[] | undefined {
  const found = longTextOf(content)?.path;
  // The renderer refuses the same contents.
  if (found === undefined) textBlocks(content);
  else expect(() => textBlocks(content)).toThrow(/longer than 16777216 characters/);
  return found;
}

describe('the text of a document', () => {
  test('the text of a document has at most 16,777,216 characters with its line ends, wherever they come from', () => {
    const text = 'x'.repeat(most - 1);
    expect(pathOf({ sections: [{ text }] })).toBeUndefined();
    expect(pathOf({ sections: [{ text: `${text}x` }] })).toEqual(['sections', 0]);
    expect(pathOf({ title: text })).toBeUndefined();
    expect(pathOf({ title: `${text}x` })).toEqual(['title']);
    expect(pathOf({ sections: [{ text: '' }, { heading: text, text: '' }] })).toBeUndefined();
    expect(pathOf({ sections: [{ text: '' }, { heading: text, text: 'x' }] })).toEqual(['sections', 1]);
    expect(pathOf({ note: text.slice('note: '.length) })).toBeUndefined();
    expect(pathOf({ note: text.slice('note:'.length) })).toEqual([]);
  });

  test('the text of a document is counted as it is rendered, because a table repeats its headers in each row', () => {
    expect(pathOf({ tables: [{}, tableOf(256)] })).toBeUndefined();
    expect(pathOf({ tables: [{}, tableOf(257)] })).toEqual(['tables', 1]);
    expect(pathOf({ tables: [tableOf(200), tableOf(57)] })).toEqual(['tables', 1]);
  });

  test('the text of a document is counted as it is rendered, because other members repeat their path in each line', () => {
    expect(pathOf(membersOf(200))).toBeUndefined();
    expect(pathOf(membersOf(257))).toEqual([]);
  });

  test('a text that would be too long is never rendered: 64 KiB and 500,000 rows are refused', () => {
    expect(pathOf({ tables: [tableOf(500_000)] })).toEqual(['tables', 0]);
  });
});
