// Usage: hack/run hack/engine-package/main.ts FOLDER: writes the engine package of this system below a folder and records
// its checksum.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from '../check/run-tool.ts';
import { checksumLine, type EngineSystem, engineManifest, slotOf, withChecksum } from './engine-package.ts';

/** The C library of Linux; Node reports the version of the GNU one only. */
function libcHere(): EngineSystem['libc'] {
  if (process.platform !== 'linux') return undefined;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

function writePackage(folder: string): void {
  const system = { platform: process.platform, arch: process.arch, abi: process.versions.modules, libc: libcHere() };
  const source = join(root, 'node_modules/re2');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { version: string };
  const target = join(folder, `re2-${slotOf(system)}`);
  mkdirSync(target, { recursive: true });
  copyFileSync(join(source, 'build/Release/re2.node'), join(target, 're2.node'));
  copyFileSync(join(source, 'LICENSE'), join(target, 'LICENSE'));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(engineManifest(version, system), undefined, 2)}\n`);
  const checksums = join(root, 'hack/engine-package/checksums');
  const line = checksumLine(version, system, readFileSync(join(target, 're2.node')));
  writeFileSync(checksums, withChecksum(readFileSync(checksums, 'utf8'), line));
  console.log(`${target}\n${line}`);
}

const folder = process.argv[2];
if (folder === undefined) {
  console.error('engine-package: name the folder to write to.');
  process.exitCode = 2;
} else writePackage(resolve(folder));
