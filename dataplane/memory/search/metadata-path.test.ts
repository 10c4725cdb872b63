import { expect, test } from 'vitest';
import { innerPath, metadataRoot, readMetadataPath } from './metadata-path.ts';

const written = (name: string): string => name.replaceAll('\\', '\\\\').replaceAll('.', '\\.');
const names = [
  'a',
  'a.b',
  '.',
  '..',
  '',
  '\\',
  'a\\',
  '\\.',
  'a\\.b',
  '"',
  "it's",
  '[0]',
  'a[0].b',
  '$.a',
  'x y',
  'é',
  '\n',
];

test('every chain of names has a distinct path, and a text that names it resolves to that path', () => {
  const paths = new Set<string>();
  for (const outer of names) {
    for (const inner of [undefined, ...names]) {
      const chain = inner === undefined ? [outer] : [outer, inner];
      const path = chain.reduce(innerPath, metadataRoot);
      paths.add(path);
      expect(readMetadataPath(`metadata.${chain.map(written).join('.')}`)).toBe(path);
    }
  }
  expect(paths.size).toBe(names.length * (names.length + 1));
});

test.each([
  ['metadata.a.b', ['a', 'b']],
  ['metadata.a\\.b', ['a.b']],
  ['metadata.a\\\\.b', ['a\\', 'b']],
  ['metadata.C:\\x', ['C:\\x']],
  ['metadata.a\\', ['a\\']],
  ['metadata.', ['']],
  ['metadata..', ['', '']],
])('the text %s names the member %j', (text, chain) => {
  expect(readMetadataPath(text)).toBe(chain.reduce(innerPath, metadataRoot));
});
