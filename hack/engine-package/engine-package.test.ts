import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/temporary-folder.ts';
import { root } from '../check/run-tool.ts';
import { checksumLine, type EngineSystem, engineManifest, withChecksum } from './engine-package.ts';

const system: EngineSystem = { platform: 'linux', arch: 'x64', abi: '137', libc: 'glibc' };
const engine = Buffer.from('engine');

describe('the engine package', () => {
  test('the engine package is restricted to its system, processor and C library', () => {
    const name = '@portcullis/re2-linux-x64-137';
    expect(engineManifest('1.2.3', system)).toMatchObject({ name, os: ['linux'], cpu: ['x64'], libc: ['glibc'] });
    expect(engineManifest('1.2.3', { ...system, libc: 'musl' })['name']).toBe('@portcullis/re2-linux-musl-x64-137');
    expect(engineManifest('1.2.3', { ...system, platform: 'darwin', libc: undefined })).not.toHaveProperty('libc');
  });

  test('the checksum of an engine replaces its earlier one and keeps those of other systems', () => {
    const recorded = 'a  1.2.3/darwin-arm64-137\nb  1.2.3/linux-x64-137\n';
    const line = checksumLine('1.2.3', system, engine);
    expect(withChecksum(recorded, line)).toBe(`a  1.2.3/darwin-arm64-137\n${line}\n`);
  });

  test.each([
    ['is taken if its checksum is recorded', 'engine', true],
    ['is ignored if it was changed', 'another', false],
  ])('the engine of an engine package %s', (_what, content, isTaken) => {
    using scratch = temporaryFolder();
    const folder = join(scratch.path, 'node_modules/@portcullis/re2-linux-x64-137');
    mkdirSync(folder, { recursive: true });
    mkdirSync(join(scratch.path, 'hack/engine-package'), { recursive: true });
    writeFileSync(join(folder, 're2.node'), content);
    writeFileSync(
      join(scratch.path, 'hack/engine-package/checksums'),
      withChecksum('', checksumLine('1.2.3', system, engine)),
    );
    const script = `root=$1; . "$2/hack/prerequisites"; packaged_engine 1.2.3/linux-x64-137 || true`;
    const found = execFileSync('sh', ['-c', script, 'sh', scratch.path, root], { encoding: 'utf8' });
    expect(found).toBe(isTaken ? join(folder, 're2.node') : '');
  });
});
