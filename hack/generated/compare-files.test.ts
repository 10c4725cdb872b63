import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { compareFiles, writeFiles } from './write-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'portcullis-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('generated files that are missing or different are found, written, and then equal', () => {
  writeFileSync(join(folder, 'same.md'), 'same\n');
  writeFileSync(join(folder, 'other.md'), 'old\n');
  const files = new Map([
    ['same.md', 'same\n'],
    ['other.md', 'new\n'],
    ['docs/reference/added.md', 'added\n'],
  ]);
  const differences = compareFiles(folder, files);
  expect(differences).toEqual([
    { path: 'other.md', kind: 'different' },
    { path: 'docs/reference/added.md', kind: 'missing' },
  ]);
  writeFiles(folder, files, differences);
  expect(compareFiles(folder, files)).toEqual([]);
  expect(readFileSync(join(folder, 'other.md'), 'utf8')).toBe('new\n');
});
