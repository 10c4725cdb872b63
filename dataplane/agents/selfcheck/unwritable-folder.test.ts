import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { confirmRequested } from '../confirm-requested.ts';
import { createHandler } from '../http/create-handler.ts';

test('a process that cannot write temporary files lacks the capability files, and names the reason', async () => {
  using folder = temporaryFolder();
  const { TMPDIR: before } = process.env;
  const reasons: string[] = [];
  process.env['TMPDIR'] = join(folder.path, 'none');
  try {
    const confirmed = await confirmRequested(['a2a.message', 'files'], createHandler, (capability, reason) => {
      reasons.push(`${capability}: ${reason}`);
    });
    expect([...confirmed]).toEqual(['a2a.message']);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
  expect(reasons).toEqual([expect.stringMatching(/^files: .*no such file or directory.*\(ENOENT\)$/)]);
});
