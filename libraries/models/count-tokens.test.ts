import { expect, test } from 'vitest';
import { countTokens } from './count-tokens.ts';

test('tokens are those of o200k_base, also for texts that look like control tokens', () => {
  expect(countTokens('')).toBe(0);
  expect(countTokens('Hello, world!')).toBe(4);
  expect(countTokens('<|endoftext|>')).toBeGreaterThan(1);
});

test('a megabyte without a space is counted', () => {
  expect(countTokens('a'.repeat(1_000_000))).toBeGreaterThan(10_000);
  expect(countTokens(' '.repeat(1_000_000))).toBeGreaterThan(0);
});
