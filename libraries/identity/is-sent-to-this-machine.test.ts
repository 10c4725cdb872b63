import { expect, test } from 'vitest';
import { isSentToThisMachine } from './is-sent-to-this-machine.ts';

test.each([
  'localhost',
  'localhost:8080',
  'LOCALHOST:1',
  'knowledge.localhost:8080',
  '127.0.0.1:8080',
  '127.1.2.3',
  '[::1]:8080',
])('Host %s names this machine', (host) => {
  expect(isSentToThisMachine(['Host', host])).toBe(true);
});

test.each([
  'evil.example',
  'evil.example:8080',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  'evillocalhost',
  '10.0.0.1:8080',
  '[::2]:8080',
  'localhost:8080, evil.example',
  '',
])('Host "%s" does not name this machine', (host) => {
  expect(isSentToThisMachine(['host', host])).toBe(false);
});

test('a request with two Host headers is refused if one of them is foreign, and a request without Host is not from a browser', () => {
  expect(isSentToThisMachine(['Host', 'localhost', 'Host', 'evil.example'])).toBe(false);
  expect(isSentToThisMachine(['X-User-Id', 'ann'])).toBe(true);
});
