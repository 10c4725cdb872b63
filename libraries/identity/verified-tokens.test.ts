import { expect, test } from 'vitest';
import { VerifiedTokens } from './verified-tokens.ts';

test('4,096 verified tokens are kept, the most recently used ones', () => {
  const verified = new VerifiedTokens();
  for (let at = 0; at < 4_096; at += 1) verified.add(`token ${at}`, ['EdDSA']);
  expect(verified.has('token 0', ['EdDSA'])).toBe(true);
  verified.add('token 4096', ['EdDSA']);
  const has = (at: number) => verified.has(`token ${at}`, ['EdDSA']);
  expect([has(0), has(1), has(2), has(4_095), has(4_096)]).toEqual([true, false, true, true, true]);
});

test('a verified token is kept for the algorithms for which it was verified', () => {
  const verified = new VerifiedTokens();
  verified.add('token', ['ES256', 'EdDSA']);
  expect([verified.has('token', ['EdDSA']), verified.has('token', ['ES256', 'EdDSA'])]).toEqual([false, true]);
});
