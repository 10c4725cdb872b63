import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../e2e/support/temporary-folder.ts';
import { logTail } from './log-tail.ts';

test('the last lines of a log are found, however long it is', () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'a.log');
  expect(logTail(path, 2)).toEqual([]);
  writeFileSync(path, 'one\ntwo\nthree\n');
  expect(logTail(path, 2)).toEqual(['two', 'three']);
  writeFileSync(path, `${'x'.repeat(100_000)}\nlast\n`);
  expect(logTail(path, 1)).toEqual(['last']);
});
