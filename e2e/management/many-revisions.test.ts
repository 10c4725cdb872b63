import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('./hold-revisions.ts', import.meta.url));

test('a process with a heap of 128 MB holds 1,000 revisions of 1 MB', async () => {
  const args = ['--max-old-space-size=128', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toMatchObject({ revisions: 1_000, newest: 100 });
  expect(JSON.parse(stdout).stored).toBeGreaterThan(1_000_000_000);
});
