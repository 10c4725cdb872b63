import { expect, test } from 'vitest';
import { bytesOf, heapMebibytes } from './memory-size.ts';

test.each([
  ['512Mi', 536_870_912],
  ['1Gi', 1_073_741_824],
  ['500M', 500_000_000],
  ['1.5G', 1_500_000_000],
  ['1e9', 1_000_000_000],
  ['268435456', 268_435_456],
  ['1000m', 1],
])('the quantity %s is %d bytes', (quantity, bytes) => expect(bytesOf(quantity)).toBe(bytes));

test.each(['', 'Mi', '1 Gi', '1GB', '-1Gi', 'x'])('the text %j is not a quantity', (text) => {
  expect(bytesOf(text)).toBeUndefined();
  expect(heapMebibytes(text)).toBeUndefined();
});

test('the heap of a runtime uses three quarters of its memory limit', () => {
  expect(heapMebibytes('512Mi')).toBe(384);
  expect(heapMebibytes('1Gi')).toBe(768);
  expect(heapMebibytes('1Mi')).toBe(1);
});
