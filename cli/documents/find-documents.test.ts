import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/temporary-folder.ts';
import { findDocuments } from './find-documents.ts';

function folderWith(names: readonly string[]) {
  const folder = temporaryFolder();
  for (const name of names) {
    mkdirSync(join(folder.path, name, '..'), { recursive: true });
    writeFileSync(join(folder.path, name), 'text');
  }
  return folder;
}

test('a folder gives every document below it, with its path in the folder as id', () => {
  using folder = folderWith(['b.md', 'sub/deep/a.PDF', 'sub/c.docx', 'image.png', '.hidden.md', '.git/d.md']);
  const ids = ['b.md', 'sub/c.docx', 'sub/deep/a.PDF'];
  expect(findDocuments([folder.path]).map(({ docId }) => docId)).toEqual(ids);
  expect(findDocuments([`${folder.path}/`]).map(({ docId }) => docId)).toEqual(ids);
});

test('a file is submitted whatever its format is, with its name as id', () => {
  using folder = folderWith(['image.png']);
  const path = join(folder.path, 'image.png');
  expect(findDocuments([path])).toEqual([{ path, docId: 'image.png' }]);
});

test('two files with the same id are refused, and the message names both', () => {
  using folder = folderWith(['one/a.md', 'two/a.md']);
  const paths = ['one', 'two'].map((name) => join(folder.path, name));
  expect(() => findDocuments(paths)).toThrow(/one\/a\.md and .*two\/a\.md have the same document id a\.md/);
});

test('a path without a file is reported with its name', () => {
  expect(() => findDocuments(['/no/such/folder'])).toThrow('There is no file or folder /no/such/folder.');
});
