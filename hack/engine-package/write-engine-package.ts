import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../check/run-tool.ts';
import {
  checksumLine,
  type EngineSystem,
  engineManifest,
  type OfferingPackage,
  slotOf,
  withChecksums,
} from './engine-package.ts';

/** The C library of a Linux system; Node reports the version only for the GNU library. */
function libcHere(): EngineSystem['libc'] {
  if (process.platform !== 'linux') return undefined;
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}

export const ownChecksums = join(root, 'hack/engine-package/checksums');

/** Adds lines to a list of checksums. */
export function recordChecksums(file: string, lines: readonly string[]): void {
  writeFileSync(file, withChecksums(existsSync(file) ? readFileSync(file, 'utf8') : '', lines));
}

/** The installed package re2. */
export function readPackage(): OfferingPackage {
  return JSON.parse(readFileSync(join(root, 'node_modules/re2/package.json'), 'utf8')) as OfferingPackage;
}

/** Writes the engine package of this system below a folder and records its checksum. */
export function writeEnginePackage(folder: string, checksums: string): void {
  const system = { platform: process.platform, arch: process.arch, abi: process.versions.modules, libc: libcHere() };
  const source = join(root, 'node_modules/re2');
  const { version } = readPackage();
  const target = join(folder, `re2-${slotOf(system)}`);
  mkdirSync(target, { recursive: true });
  copyFileSync(join(source, 'build/Release/re2.node'), join(target, 're2.node'));
  copyFileSync(join(source, 'LICENSE'), join(target, 'LICENSE'));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(engineManifest(version, system), undefined, 2)}\n`);
  const line = checksumLine(version, system, readFileSync(join(target, 're2.node')));
  recordChecksums(checksums, [line]);
  console.log(`${target}\n${line}`);
}
