import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHeaderReader, exactlyOnce, headerValues } from './raw-headers.ts';

test('header values are found in any case and in order, and a value is never read as a name', () => {
  const raw = ['X-A', '1', 'host', 'x-a', 'x-a', '2', 'X-AB', '3'];
  expect(headerValues(raw, 'x-A')).toEqual(['1', '2']);
  expect(headerValues(raw, 'host')).toEqual(['x-a']);
  expect(headerValues(raw, 'none')).toEqual([]);
  expect(headerValues([], 'x')).toEqual([]);
});

test.each([
  [[], { ok: false, fault: 'missing' }],
  [['y', '1'], { ok: false, fault: 'missing' }],
  [['X', ''], { ok: false, fault: 'empty' }],
  [['x', ' \t'], { ok: false, fault: 'empty' }],
  [['x', '1', 'X', '1'], { ok: false, fault: 'duplicate' }],
  [['x', '', 'X', ''], { ok: false, fault: 'duplicate' }],
  [['X', 'a, b'], { ok: true, value: 'a, b' }],
])('a header that must appear exactly once is read or refused: %j', (raw, expected) => {
  expect(exactlyOnce(raw, 'x')).toEqual(expected);
});

test('a reader of several headers agrees with exactlyOnce for each', () => {
  const names = ['host', 'date', 'x-a', 'x-ab'] as const;
  const read = createHeaderReader(names);
  const name = fc.constantFrom('host', 'HOST', 'Date', 'x-a', 'X-A', 'x-ab', 'X-aB', 'x-b', 'x-', 'x-abc', '');
  const value = fc.constantFrom('', ' \t', '1', 'a, b', 'host', 'x-a');
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 6 }), (pairs) => {
      const raw = pairs.flat();
      expect(read(raw)).toEqual(names.map((one) => exactlyOnce(raw, one)));
    }),
  );
});
