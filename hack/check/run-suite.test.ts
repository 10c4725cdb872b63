import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { root } from './run-tool.ts';

mkdirSync(join(root, '.figures'), { recursive: true });
const folder = mkdtempSync(join(root, '.figures/suite-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const samples = {
  'mixed.test.ts': `
    import { describe, expect, test } from 'vitest';
    test('passes', { meta: { verifies: ['a:b:passed'] } }, () => {});
    test('fails', { meta: { verifies: ['a:b:failed'] } }, () => expect(1).toBe(2));
    test('skips', { meta: { verifies: ['a:b:skipped'] } }, (context) => context.skip('nothing to see'));
    test.skip('skips silently', () => {});
    describe.skip('a suite (Docker is not running)', () => test('(one) that skips', () => {}));
  `,
  'broken.test.ts': "import './absent.ts';",
  'hook.test.ts': `
    import { beforeAll, describe, test } from 'vitest';
    describe('a suite', () => {
      beforeAll(() => Promise.reject(new Error('not today')));
      test('cannot run', () => {});
      test('cannot run either', () => {});
    });
  `,
};

test('a run counts passes, failures, files that do not load, failed hooks, skips with their reason and proved obligations', async () => {
  for (const [name, text] of Object.entries(samples)) writeFileSync(join(folder, name), text);
  const files = Object.keys(samples).map((name) => relative(root, join(folder, name)));
  const program = `
    import { runSuite } from './hack/check/run-suite.ts';
    const outcome = await runSuite({ root: process.cwd(), files: ${JSON.stringify(files)} });
    console.log('\\n' + JSON.stringify(outcome));
    process.exitCode = 0;
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: root,
    env: { PATH: process.env.PATH },
  });
  const outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  expect(outcome).toMatchObject({ passed: 1, failed: 3, proved: ['a:b:passed'] });
  expect(outcome.skipped).toEqual([
    { test: expect.stringContaining('mixed.test.ts > skips'), reason: 'nothing to see' },
    { test: expect.stringContaining('mixed.test.ts > skips silently'), reason: '' },
    { test: expect.stringContaining('> (one) that skips'), reason: 'Docker is not running' },
  ]);
});
