import { expect, test } from 'vitest';
import { bearerToken } from './bearer.ts';

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc', 'abc'],
  ['Bearer a-b._c~d+e/f==', 'a-b._c~d+e/f=='],
])('the Authorization header %j is accepted', (value, token) => {
  expect(bearerToken(['authorization', value])).toEqual({ ok: true, token });
});

test.each([
  'abc',
  'Bearer',
  'Bearer ',
  'Bearerabc',
  'Basic abc',
  'Bearer a b',
  'Bearer a,b',
  'Bearer a=b',
  'Bearer =',
  'Bearer\tabc',
  '\u00a0Bearer abc',
  'Bearer abc\u00a0',
  'Bearer я',
  'Bearer a, Bearer b',
])('the Authorization header %j is refused for its scheme or token', (value) => {
  expect(bearerToken(['Authorization', value])).toEqual({ ok: false, fault: 'scheme' });
});

test.each([
  [[], 'missing'],
  [['authorization', ''], 'empty'],
  [['authorization', 'Bearer a', 'Authorization', 'Bearer a'], 'duplicate'],
])('the Authorization headers %j are %s', (raw, fault) => {
  expect(bearerToken(raw)).toEqual({ ok: false, fault });
});
