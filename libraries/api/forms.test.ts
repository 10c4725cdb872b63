import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readIfMatch } from './if-match.ts';
import { createCursors, readLimit } from './pages.ts';

const id = '01900000-0000-7000-8000-000000000001';

test('If-Match with one strong tag is a tag; wildcards, weak tags and lists never match; other text is invalid', () => {
  expect(readIfMatch([])).toEqual({ kind: 'missing' });
  expect(readIfMatch(['"a"'])).toEqual({ kind: 'tag', tag: '"a"' });
  for (const never of ['*', 'W/"a"', '"a", "b"', '"a","b"']) expect(readIfMatch([never]).kind).toBe('never');
  expect(readIfMatch(['"a"', '"b"']).kind).toBe('never');
  for (const invalid of ['', 'a', '"a', 'a"', 'w/"a"', '"a" "b"', '"a",', ',', '**']) {
    expect([invalid, readIfMatch([invalid]).kind]).toEqual([invalid, 'invalid']);
  }
});

test('the limit of a page must be an integer within its bounds; the default applies when it is absent', () => {
  const bounds = { min: 1, max: 50, default: 20 };
  expect([undefined, '1', '50'].map((text) => readLimit(text, bounds))).toEqual([20, 1, 50]);
  for (const wrong of ['', '0', '51', '100', '-1', '1.5', ' 1', '9'.repeat(40)]) {
    expect([wrong, readLimit(wrong, bounds)]).toEqual([wrong, undefined]);
  }
});

test('a cursor of a list is decoded; other text and cursors of another list are invalid', () => {
  const { read, write } = createCursors('things/v1');
  expect(read(write(id))).toBe(id);
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => read(text) === undefined));
  expect(read(`${write(id)}=`)).toBeUndefined();
  expect(createCursors('other/v1').read(write(id))).toBeUndefined();
});
