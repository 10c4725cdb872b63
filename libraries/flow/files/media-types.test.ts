import { expect, test } from 'vitest';
import { hasMediaType } from './media-types.ts';

test('a JSON file has at most 1,000,000 values, because each of them needs many times its bytes', () => {
  const listOf = (values: number): Buffer => Buffer.from(`[${'0,'.repeat(values - 2)}0]`);
  expect(hasMediaType(listOf(1_000_000), 'application/json')).toBe(true);
  expect(hasMediaType(listOf(1_000_001), 'application/json')).toBe(false);
});

test('the content of a file has its media type, by its first bytes or its encoding', () => {
  expect(hasMediaType(Buffer.from('%PDF-1.7'), 'application/pdf')).toBe(true);
  expect(hasMediaType(Buffer.from('PDF'), 'application/pdf')).toBe(false);
  expect(hasMediaType(Buffer.from('a,b'), 'text/csv')).toBe(true);
  expect(hasMediaType(Buffer.from([0xff]), 'text/csv')).toBe(false);
  expect(hasMediaType(Buffer.from('{"a":1}'), 'application/json')).toBe(true);
  expect(hasMediaType(Buffer.from('{"a":1'), 'application/json')).toBe(false);
  expect(hasMediaType(Buffer.from('a'), 'toString')).toBe(false);
});
