import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameJson } from './same-json.ts';

test('sameJson agrees with deep equality of plain JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
      const [a, b]: unknown[] = [left, right].map((value) => JSON.parse(JSON.stringify(value)));
      expect(sameJson(a, b)).toBe(isDeepStrictEqual(a, b));
      expect(sameJson(a, structuredClone(a))).toBe(true);
    }),
  );
});

test('sameJson treats an undefined member as absent and never equates a list with an object', () => {
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(sameJson({ b: undefined }, { a: 1 })).toBe(false);
  expect(sameJson([], {})).toBe(false);
  expect(sameJson([1, 2], [2, 1])).toBe(false);
  expect(sameJson(null, {})).toBe(false);
});
