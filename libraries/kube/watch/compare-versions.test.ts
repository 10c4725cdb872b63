import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareVersions, isVersion } from './compare-versions.ts';

test('resource versions are ordered as numbers of any size', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 1n << 90n }), fc.bigInt({ min: 0n, max: 1n << 90n }), (a, b) => {
      expect(compareVersions(String(a), String(b))).toBe(a === b ? 0 : a < b ? -1 : 1);
    }),
  );
});

test.each(['', '01', '-1', '1.0', 'a', ' 1'])('a resource version %j is refused', (text) => {
  expect(isVersion(text)).toBe(false);
  expect(() => compareVersions(text, '1')).toThrow(RangeError);
});
