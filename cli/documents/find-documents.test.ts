import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { withoutPrivileges } from '../../e2e/support/without-privileges.ts';
import { findDocuments, isLeftOut, refuseUnreadable } from './find-documents.ts';

function folderWith(names: readonly string[]) {
  const folder = temporaryFolder();
  for (const name of names) {
    mkdirSync(join(folder.path, name, '..'), { recursive: true });
    writeFileSync(join(folder.path, name), 'text');
  }
  return folder;
}

const idsBelow = (path: string): readonly string[] => findDocuments([path]).files.map(({ docId }) => docId);
const reasonsBelow = (path: string) => findDocuments([path]).leftOut.map(({ docId, reason }) => [docId, reason]);

test('a folder contributes every document below it, with its path in the folder as id', () => {
  using folder = folderWith(['b.md', 'sub/deep/a.PDF', 'sub/c.docx', 'image.png', '.hidden.md', '.git/d.md']);
  const ids = ['b.md', 'sub/c.docx', 'sub/deep/a.PDF'];
  expect(idsBelow(folder.path)).toEqual(ids);
  expect(idsBelow(`${folder.path}/`)).toEqual(ids);
});

test('a file is submitted whatever its format is, with its name as id', () => {
  using folder = folderWith(['image.png']);
  const path = join(folder.path, 'image.png');
  expect(findDocuments([path])).toEqual({ files: [{ path, docId: 'image.png' }], leftOut: [] });
});

test('two files with the same id are refused, and the message names both', () => {
  using folder = folderWith(['one/a.md', 'two/a.md']);
  const paths = ['one', 'two'].map((name) => join(folder.path, name));
  expect(() => findDocuments(paths)).toThrow(/one\/a\.md and .*two\/a\.md have the same document id a\.md/);
});

test('a submitted path without a file is reported with its name', () => {
  expect(() => refuseUnreadable(['/no/such/folder'])).toThrow(
    'There is no file or folder /no/such/folder: check the path.',
  );
  using folder = folderWith(['a.md']);
  expect(() => refuseUnreadable([folder.path, join(folder.path, 'a.md')])).not.toThrow();
});

test.each([
  ['without any right', 0o000],
  ['whose names can be listed and not opened', 0o744],
])('a folder %s is skipped with one line, and all other documents are found', (_, mode) => {
  using folder = folderWith(['a.md', 'closed/b.md', 'closed/deep/c.md', 'open/d.md']);
  chmodSync(folder.path, 0o755);
  chmodSync(join(folder.path, 'closed'), mode);
  try {
    using _ = withoutPrivileges();
    expect(idsBelow(folder.path)).toEqual(['a.md', 'open/d.md']);
    expect(reasonsBelow(folder.path)).toEqual([['closed', 'permission is denied: check its owner and mode']]);
    const { leftOut } = findDocuments([folder.path]);
    expect(['closed/b.md', 'closed/deep/c.md', 'closed'].every((id) => isLeftOut(id, leftOut))).toBe(true);
    expect(['a.md', 'closed.md', 'open/closed'].some((id) => isLeftOut(id, leftOut))).toBe(false);
    const closed = join(folder.path, 'closed');
    expect(() => refuseUnreadable([closed])).toThrow(`${closed} cannot be read: permission is denied`);
    expect(isLeftOut('any.md', findDocuments([closed]).leftOut)).toBe(true);
  } finally {
    chmodSync(join(folder.path, 'closed'), 0o755);
  }
});

test('a symbolic link to a document inside the folder is read as this document, and any other link is skipped with the reason', () => {
  using outside = folderWith(['secret.md']);
  using folder = folderWith(['..data/mounted.md', 'plain.env', 'sub/a.md']);
  const link = (name: string, target: string): void => symlinkSync(target, join(folder.path, name));
  link('..current', '..data');
  link('mounted.md', '..current/mounted.md');
  link('out.md', join(outside.path, 'secret.md'));
  link('linked', 'sub');
  link('gone.md', 'absent.md');
  link('round.md', 'round.md');
  link('other.md', 'plain.env');
  link('image.png', 'plain.env');
  link('gone', 'absent');
  const { files } = findDocuments([folder.path]);
  expect(files.map(({ docId }) => docId)).toEqual(['mounted.md', 'sub/a.md']);
  expect(files[0]?.path).toMatch(/\/\.\.data\/mounted\.md$/);
  expect(reasonsBelow(folder.path).toSorted()).toEqual([
    ['gone.md', 'the target of its symbolic link does not exist'],
    ['linked', 'symbolic links to folders are not followed'],
    ['other.md', 'its symbolic link points to no document'],
    ['out.md', 'symbolic links out of the folder are not followed'],
    ['round.md', 'its symbolic links form a cycle: give the file itself'],
  ]);
});

test('a submitted path that is itself a symbolic link is followed', () => {
  using folder = folderWith(['real/a.md']);
  symlinkSync('real', join(folder.path, 'link'));
  expect(idsBelow(join(folder.path, 'link'))).toEqual(['a.md']);
});

test.each([
  ['with control characters', Buffer.from('a\u001b[2K.md'), 'its name has control characters: rename it'],
  ['with a line feed', Buffer.from('a\nb.md'), 'its name has control characters: rename it'],
  ['that is not valid UTF-8', Buffer.from([0x61, 0xff, 0x2e, 0x6d, 0x64]), 'its name is not valid UTF-8: rename it'],
])('a file name %s is skipped with the reason', (_, name, reason) => {
  using folder = folderWith(['good.md']);
  writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), name]), 'text');
  expect(idsBelow(folder.path)).toEqual(['good.md']);
  expect(findDocuments([folder.path]).leftOut).toMatchObject([{ reason, isFault: true }]);
});

test('a file name may contain the replacement character of Unicode', () => {
  using folder = folderWith(['a\ufffd.md']);
  expect(idsBelow(folder.path)).toEqual(['a\ufffd.md']);
});
