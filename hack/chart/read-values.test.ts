import { expect, test } from 'vitest';
import { readValues } from './read-values.ts';

test('a comment of values.yaml belongs to the key below it; a map has its own comment, and a map without declared keys is one value', () => {
  const values = readValues(`# About the file.

# first is a text.
first: ""
group:
  # inner is a number
  # that counts.
  inner: 1
# second is a map of anything.
second: {}
# third is a group with a comment.
third:
  # labels are whole.
  labels: { a: "1" }
plain: true
`);
  expect(values).toEqual([
    { path: ['first'], default: '', comment: 'first is a text.', isGroup: false },
    { path: ['group'], default: undefined, comment: '', isGroup: true },
    { path: ['group', 'inner'], default: 1, comment: 'inner is a number that counts.', isGroup: false },
    { path: ['second'], default: {}, comment: 'second is a map of anything.', isGroup: false },
    { path: ['third'], default: undefined, comment: 'third is a group with a comment.', isGroup: true },
    { path: ['third', 'labels'], default: { a: '1' }, comment: 'labels are whole.', isGroup: false },
    { path: ['plain'], default: true, comment: '', isGroup: false },
  ]);
});

test('a values file without a map is refused', () => {
  expect(() => readValues('- 1\n')).toThrow('the top level of values.yaml is not a map');
});
