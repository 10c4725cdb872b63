import { expect, test } from 'vitest';
import { tokenFault } from './token-fault.ts';

const now = new Date('2026-05-01T12:00:00.000Z');
const at = (seconds: number): number => now.getTime() / 1_000 + seconds;
const token = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`;
const dated = (seconds: number): string => new Date(at(seconds) * 1_000).toUTCString();

test('the message about an expired token names the time of expiry', () => {
  expect(tokenFault(token({ exp: at(0) }), now)).toBe('The token expired at 2026-05-01T12:00:00.000Z: get a new one.');
  expect(tokenFault(token({ exp: at(1) }), now)).toBeUndefined();
});

test('a token that is not valid yet is named with both times', () => {
  const fault = tokenFault(token({ exp: at(9_000), nbf: at(61) }), now);
  expect(fault).toContain('not valid before 2026-05-01T12:01:01.000Z');
  expect(fault).toContain('the clock of this machine says 2026-05-01T12:00:00.000Z');
  expect(tokenFault(token({ exp: at(9_000), iat: at(61) }), now)).toBe(fault);
  expect(tokenFault(token({ exp: at(9_000), nbf: at(60) }), now)).toBeUndefined();
});

test.each([
  [-61, 'The clock of this machine is 61 s ahead of that of the server: set the clock.'],
  [61, 'The clock of this machine is 61 s behind that of the server: set the clock.'],
  [60, undefined],
] as const)('the message about a server whose clock differs by %d s is %j', (seconds, sentence) => {
  expect(tokenFault('opaque', now, dated(seconds))).toBe(sentence);
});

test.each(['', 'a.b.c', 'e30.bnVsbA.x', 'e30.WzFd.x', 'opaque'])('no times are read from the token %j', (text) => {
  expect(tokenFault(text, now, 'no date')).toBeUndefined();
});
