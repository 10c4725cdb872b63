import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOneTimeCode } from './one-time-code.ts';

test('after many concurrent wrong codes the file contains the code that sign-in accepts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-code-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'code');
  const code = await openOneTimeCode(file);
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 300 }, () => code.take('WRONG')));
    expect(await code.take(readFileSync(file, 'utf8'))).toBe(true);
  }
});
