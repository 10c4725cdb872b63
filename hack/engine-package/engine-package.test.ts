import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { root } from '../check/run-tool.ts';
import { checksumLine, type EngineSystem, engineManifest, offeredChecksums, withChecksums } from './engine-package.ts';

const system: EngineSystem = { platform: 'linux', arch: 'x64', abi: '137', libc: 'glibc' };
const engine = Buffer.from('engine');

describe('the engine package', () => {
  test('the engine package is restricted to its system, processor and C library', () => {
    const name = '@portcullis/re2-linux-x64-137';
    expect(engineManifest('1.2.3', system)).toMatchObject({ name, os: ['linux'], cpu: ['x64'], libc: ['glibc'] });
    expect(engineManifest('1.2.3', { ...system, libc: 'musl' })['name']).toBe('@portcullis/re2-linux-musl-x64-137');
    expect(engineManifest('1.2.3', { ...system, platform: 'darwin', libc: undefined })).not.toHaveProperty('libc');
  });

  test('the checksum of an engine is added to those of its version, and those of other versions are removed', () => {
    const recorded = 'a  1.2.3/darwin-arm64-137\nb  1.2.3/linux-x64-137\nc  1.2.2/linux-x64-137\n';
    const line = checksumLine('1.2.3', system, engine);
    const expected = `a  1.2.3/darwin-arm64-137\nb  1.2.3/linux-x64-137\n${line}\n`;
    expect(withChecksums(recorded, [line])).toBe(expected);
    expect(withChecksums(expected, [line])).toBe(expected);
  });

  test('the recorded checksums contain every engine that the installed re2 offers for Linux and macOS', () => {
    const offered = offeredChecksums(JSON.parse(readFileSync(join(root, 'node_modules/re2/package.json'), 'utf8')));
    expect(offered).toHaveLength(6);
    const recorded = readFileSync(join(root, 'hack/engine-package/checksums'), 'utf8').split('\n');
    expect(recorded).toEqual(expect.arrayContaining([...offered]));
  });

  test('the command writes a package that npm packs, and records its checksum, so that an installation takes it', () => {
    using scratch = temporaryFolder();
    const checksums = join(scratch.path, 'checkout/hack/engine-package/checksums');
    mkdirSync(join(checksums, '..'), { recursive: true });
    const main = join(root, 'hack/engine-package/main.ts');
    const written = execFileSync(process.execPath, [main, scratch.path, checksums], { encoding: 'utf8' });
    const [folder = '', line = ''] = written.split('\n');
    const slot = line.split('  ')[1] ?? '';
    expect(readFileSync(checksums, 'utf8')).toBe(`${line}\n`);
    const npm = ['pack', '--json', '--offline', '--pack-destination', scratch.path, folder];
    const [packed] = JSON.parse(execFileSync('npm', npm, { encoding: 'utf8' })) as [{ filename: string }];
    const installed = join(scratch.path, 'checkout/node_modules/@portcullis', `re2-${slot.split('/')[1]}`);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(scratch.path, packed.filename), '-C', installed, '--strip-components=1']);
    expect(packagedEngine(join(scratch.path, 'checkout'), slot)).toBe(join(installed, 're2.node'));
    const loaded = `process.dlopen({ exports: {} }, ${JSON.stringify(join(installed, 're2.node'))})`;
    execFileSync(process.execPath, ['-e', loaded]);
    appendFileSync(join(installed, 're2.node'), 'changed');
    expect(packagedEngine(join(scratch.path, 'checkout'), slot)).toBe('');
  });
});

/** The engine that an installation of the checkout would use from a package; empty if there is none. */
function packagedEngine(checkout: string, slot: string): string {
  const script = `root=$1; . "$2/hack/prerequisites"; packaged_engine "$3" || true`;
  return execFileSync('sh', ['-c', script, 'sh', checkout, root, slot], { encoding: 'utf8' });
}
