import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseStrict, parseTree } from './parse-strict.ts';
import { type Edit, splice } from './splice.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const edit = (start: number, end: number, replacement: string): Edit => ({
  start,
  end,
  replacement: Buffer.from(replacement),
});

test('splice replaces spans in any order, including empty and touching ones', () => {
  const bytes = Buffer.from('0123456789');
  expect(text(splice(bytes, []))).toBe('0123456789');
  expect(text(splice(bytes, [edit(8, 10, ''), edit(0, 1, 'abc'), edit(1, 1, '-'), edit(4, 5, 'я')]))).toBe(
    'abc-123я567',
  );
  expect(text(splice(bytes, [edit(2, 4, 'b'), edit(0, 2, 'a')]))).toBe('ab456789');
  expect(text(splice(bytes, [edit(10, 10, '!'), edit(0, 0, '!')]))).toBe('!0123456789!');
});

test.each([
  ['overlap', [edit(0, 3, ''), edit(2, 4, '')]],
  ['two overlapping spans', [edit(0, 9, ''), edit(2, 4, '')]],
  ['behind the end', [edit(9, 11, '')]],
  ['before the begin', [edit(-1, 1, '')]],
  ['end before start', [edit(3, 2, '')]],
])('splice refuses %s', (_what, edits) => {
  expect(() => splice(Buffer.from('0123456789'), edits)).toThrow(RangeError);
});

test('splice equals cutting and joining strings', () => {
  const cases = fc.tuple(
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.tuple(fc.nat(60), fc.string()), { maxLength: 6 }),
  );
  fc.assert(
    fc.property(cases, ([source, cuts]) => {
      const bytes = Buffer.from(source);
      const points = [...new Set(cuts.map(([at]) => at % (bytes.length + 1)))].sort((a, b) => a - b);
      const edits = points.flatMap((start, index) =>
        index % 2 === 0 && points[index + 1] !== undefined ? [edit(start, points[index + 1]!, cuts[index]![1])] : [],
      );
      let expected = bytes;
      for (const { start, end, replacement } of edits.toReversed()) {
        expected = Buffer.concat([expected.subarray(0, start), replacement, expected.subarray(end)]);
      }
      expect(Buffer.from(splice(bytes, edits.toReversed()))).toEqual(expected);
    }),
  );
});

test('splicing a value leaves the rest of a text unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), fc.jsonValue(), (items, pick, fresh) => {
      const bytes = Buffer.from(JSON.stringify(items));
      const tree = parseTree(bytes);
      if (tree.kind !== 'array') throw new Error('the result is not an array');
      const index = pick % items.length;
      const { start, end } = tree.items[index]!;
      const spliced = splice(bytes, [edit(start, end, JSON.stringify(fresh))]);
      expect(parseStrict(spliced)).toEqual(JSON.parse(JSON.stringify(items.with(index, fresh))));
    }),
  );
});
