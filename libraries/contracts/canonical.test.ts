import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBytes, digestOf, sha256Hex } from './canonical.ts';

test('members of canonical JSON are sorted by UTF-16 units, without white space (RFC 8785)', () => {
  expect(canonicalBytes({ b: [1, 2], a: { z: null, é: true } }).toString()).toBe('{"a":{"z":null,"é":true},"b":[1,2]}');
});

test('the digest of canonical JSON is 64 lower-case hexadecimal characters without a prefix', () => {
  expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(digestOf({})).toMatch(/^[0-9a-f]{64}$/);
});

test('a value without a JSON form has no digest and throws', () => {
  for (const value of [undefined, Number.NaN, Number.POSITIVE_INFINITY, '\ud800', 1n]) {
    expect(() => canonicalBytes(value)).toThrow();
  }
});

test('equal values have equal digests whatever the order of their members, different values do not', () => {
  const json = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
  fc.assert(
    fc.property(json, json, (left, right) => {
      const shuffled = Object.fromEntries(Object.entries(left).reverse());
      expect(digestOf(shuffled)).toBe(digestOf(left));
      const same = canonicalBytes(left).equals(canonicalBytes(right));
      expect(digestOf(left) === digestOf(right)).toBe(same);
    }),
  );
});
