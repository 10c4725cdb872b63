import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../e2e/support/temporary-folder.ts';
import { buildImage } from '../image.ts';

const canRun = process.platform === 'linux' && userInfo().uid === 0;
const stage = fileURLToPath(new URL('../image/stage.ts', import.meta.url));

const describeImage = (): void => {
  const scratch = temporaryFolder();
  const tree = join(scratch.path, 'tree');
  let id: string;
  beforeAll(() => {
    id = buildImage(join(scratch.path, 'image.tar')).id;
    mkdirSync(join(scratch.path, 'parts'));
    mkdirSync(tree);
    execFileSync('tar', ['-x', '-f', join(scratch.path, 'image.tar'), '-C', join(scratch.path, 'parts')]);
    const layers = readdirSync(join(scratch.path, 'parts')).filter((name) => name.startsWith('layer-'));
    for (const layer of layers.sort())
      execFileSync('tar', ['-x', '-p', '-f', join(scratch.path, 'parts', layer), '-C', tree]);
  });
  afterAll(() => scratch[Symbol.dispose]());

  test('has the same identity when it is built again', () => {
    expect(buildImage(join(scratch.path, 'again.tar')).id).toBe(id);
  });

  test('has the files that the Dockerfile takes', () => {
    const staged = join(scratch.path, 'staged');
    execFileSync(process.execPath, [stage, staged]);
    expect(spawnSync('diff', ['--recursive', '--no-dereference', staged, tree], { encoding: 'utf8' }).stdout).toBe('');
    const modes = (path: string): string =>
      execFileSync('find', ['.', '-printf', '%p %m\n'], { cwd: path, encoding: 'utf8' });
    const sorted = (path: string): readonly string[] =>
      modes(path)
        .split('\n')
        .filter((line) => !line.startsWith('. '))
        .sort();
    expect(sorted(staged)).toEqual(sorted(tree));
  });

  test.each([
    ['node', ['--print', 'process.version'], process.version],
    ['the matching engine', ['--print', "new (require('re2'))('a+').exec('baab')[0]"], 'aa'],
    ['the command line', ['cli/main.ts', '--help'], 'Usage: portcullis'],
  ])('starts %s without root and from nothing but its own files', (_what, args, expected) => {
    const identity = ['--setuid=65532', '--setgid=65532'];
    const command = [`--root=${tree}`, '--wd=/app', ...identity, '/usr/local/bin/node', ...args];
    const { stdout, stderr } = spawnSync('unshare', command, { encoding: 'utf8', env: { HOME: '/tmp' } });
    expect(stdout, stderr).toContain(expected);
  });
};

if (canRun) describe('the image of the checkout', describeImage);
else
  test('the image of the checkout', ({ skip }) => skip('its files belong to root and are looked at by root on Linux'));
