import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const setpriv = '/usr/bin/setpriv';
const canTry = process.platform === 'linux' && userInfo().uid === 0 && existsSync(setpriv);
const file = fileURLToPath(new URL('./space.ts', import.meta.url));

test('a root user without the right to create namespaces gets the error of unshare', ({ skip }) => {
  if (!canTry) skip('rights are taken from root by setpriv on Linux');
  const script = `const { spaceProblem } = await import(${JSON.stringify(file)});
    console.log(spaceProblem('/usr/bin/unshare'));`;
  const rest = ['--bounding-set=-sys_admin', process.execPath, '--input-type=module', '--eval', script];
  const { status, stdout, stderr } = spawnSync(setpriv, rest, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 0,
    stdout: 'unshare: unshare failed: Operation not permitted\n',
    stderr: '',
  });
});
