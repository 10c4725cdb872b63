import { expect, test } from 'vitest';
import { markedContent } from './marked-words.ts';

test('highlighted words of a citation are put between asterisks, and the rest of its content is unchanged', () => {
  const content = 'Zürich 🏨 hotels cost 180.';
  const at = content.indexOf('hotels');
  expect(markedContent({ content, highlights: [] })).toBe(content);
  expect(markedContent({ content })).toBe(content);
  const highlights = [
    { start: 0, end: 6 },
    { start: at, end: at + 6 },
    { start: content.length - 4, end: content.length },
  ];
  expect(markedContent({ content, highlights })).toBe('*Zürich* 🏨 *hotels* cost *180.*');
});
