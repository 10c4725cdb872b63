import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { copiedFile, type Entry, folder, textFile, withFolders } from './entry.ts';
import { tarOf, tarSize } from './tar.ts';

const archiveOf = (entries: readonly Entry[]): Buffer => Buffer.concat([...tarOf(entries)]);

describe('a tar archive', () => {
  test('a tar archive is unpacked by tar', () => {
    using scratch = temporaryFolder();
    const source = join(scratch.path, 'source');
    writeFileSync(source, Buffer.alloc(1_000, 'x'));
    const entries = withFolders([
      copiedFile('bin/program', source, 0o755),
      textFile('etc/short', 'ä\n'),
      textFile('etc/empty', ''),
      { kind: 'link', path: 'etc/link', mode: 0o777, target: 'short' },
      folder('tmp', 0o1777),
    ]);
    writeFileSync(join(scratch.path, 'archive.tar'), archiveOf(entries));
    mkdirSync(join(scratch.path, 'out'));
    execFileSync('tar', ['--extract', '--same-permissions', '--no-same-owner', '-f', '../archive.tar'], {
      cwd: join(scratch.path, 'out'),
    });
    const at = (path: string): string => join(scratch.path, 'out', path);
    expect(readFileSync(at('bin/program'))).toEqual(readFileSync(source));
    expect(readFileSync(at('etc/link'), 'utf8')).toBe('ä\n');
    expect(readFileSync(at('etc/empty'), 'utf8')).toBe('');
    expect(statSync(at('bin/program')).mode & 0o7777).toBe(0o755);
    expect(statSync(at('tmp')).mode & 0o7777).toBe(0o1777);
    expect(statSync(at('etc/short')).mtimeMs).toBe(0);
  });

  test.each([0, 1, 511, 512, 513])('a tar archive with a file of %d bytes has the announced size', (size) => {
    const entries = [textFile('a', 'x'.repeat(size))];
    expect(archiveOf(entries).length).toBe(tarSize(entries));
    expect(tarSize(entries) % 512).toBe(0);
  });

  const deep = (folderBytes: number, nameBytes: number): Entry =>
    textFile(`${'d'.repeat(folderBytes)}/${'n'.repeat(nameBytes)}`, '');

  test.each([
    [99, 100],
    [155, 100],
  ])('a tar archive accepts a path of %d and %d bytes', (folderBytes, nameBytes) => {
    const listed = execFileSync('tar', ['-t'], { input: archiveOf([deep(folderBytes, nameBytes)]), encoding: 'utf8' });
    expect(listed).toBe(`${'d'.repeat(folderBytes)}/${'n'.repeat(nameBytes)}\n`);
  });

  test.each([
    [155, 101],
    [156, 100],
  ])('a tar archive refuses a path of %d and %d bytes instead of truncating it', (folderBytes, nameBytes) => {
    expect(() => archiveOf([deep(folderBytes, nameBytes)])).toThrow(/too long/);
  });
});
