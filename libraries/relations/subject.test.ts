import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readUserSubject, userSubject } from './subject.ts';
import { checkQuestion, checkTuple } from './tuple.ts';

const short = { maxLength: 40 } as const;
const name = fc.oneof(
  fc.string({ ...short, unit: 'binary' }),
  fc.string({ ...short, unit: 'grapheme' }),
  fc.string({ ...short, unit: fc.constantFrom('%', '|', ':', '#', '*', ' ', '2', '5', 'C', '7', 'a', '\n', 'é', '𝒳') }),
);
const pair = fc.record({ issuer: name, subject: name });

describe('the encoding of a user', () => {
  test.each([
    [{ issuer: 'https://issuer.example', subject: 'ann' }, 'user:https%3A//issuer.example|ann'],
    [{ issuer: 'a|b', subject: 'c' }, 'user:a%7Cb|c'],
    [{ issuer: 'a', subject: 'b|c' }, 'user:a|b%7Cc'],
    [{ issuer: 'a', subject: 'ann@example.com' }, 'user:a|ann@example.com'],
    [{ issuer: 'a', subject: '*' }, 'user:a|%2A'],
    [{ issuer: 'a', subject: 'Анна' }, 'user:a|%D0%90%D0%BD%D0%BD%D0%B0'],
  ])('the user %j is encoded as %s', (user, expected) => {
    expect(userSubject(user)).toBe(expected);
  });

  test('different users have different encoded subjects, which can be decoded', () => {
    fc.assert(
      fc.property(pair, pair, (one, other) => {
        const same = one.issuer === other.issuer && one.subject === other.subject;
        expect(userSubject(one) === userSubject(other)).toBe(same);
        expect(readUserSubject(userSubject(one))).toEqual(one);
      }),
      { numRuns: 3_000 },
    );
  });

  test('every encoded user is valid in tuples and checks', () => {
    fc.assert(
      fc.property(pair, (user) => {
        const subject = userSubject(user);
        checkTuple({ subject, relation: 'administer', object: 'control_plane:control-plane' });
        checkQuestion(subject, 'administer', 'control_plane:control-plane');
      }),
      { numRuns: 3_000 },
    );
  });

  test('a user subject of 512 characters is accepted, one of 513 is refused', () => {
    const issuer = 'a'.repeat(255);
    expect(userSubject({ issuer, subject: 'b'.repeat(251) })).toHaveLength(512);
    expect(() => userSubject({ issuer, subject: 'b'.repeat(252) })).toThrow('longer than 512');
  });

  test('a lone surrogate in an issuer or subject of a user is refused', () => {
    expect(() => userSubject({ issuer: 'a', subject: '\ud800' })).toThrow('not well-formed text');
  });

  test.each(['user:a', 'user:a|b|c', 'agent:a|b', 'user:a|%', 'user:a|%61', 'user:a|%7c', 'user:a|b c', ''])(
    '%s is not the encoding of a user',
    (text) => {
      expect(readUserSubject(text)).toBeUndefined();
    },
  );
});
