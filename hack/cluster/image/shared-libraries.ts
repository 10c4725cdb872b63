import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { normalize } from 'node:path';
import { ClusterError } from '../cluster-error.ts';
import { copiedFile, type Entry } from './entry.ts';

/** `name => /path (address)` or `/path (address)`; the vDSO of the kernel has no path. */
const line = /^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm;

/**
 * Where the shared libraries of programs and addons of this machine are found, the loader among them; links are not
 * followed. @throws ClusterError when one of them is not there
 */
export function libraryPaths(programs: readonly string[]): readonly string[] {
  const paths = new Set<string>();
  for (const program of programs) {
    const output = execFileSync('ldd', [program], { encoding: 'utf8' });
    const missing = /^\s*(\S+) => not found$/m.exec(output);
    if (missing !== null) {
      throw new ClusterError('missing-program', `${program} needs the library ${missing[1]}, which is not installed.`);
    }
    for (const match of output.matchAll(line)) paths.add(normalize(match[1] ?? ''));
  }
  return [...paths];
}

/** A library of the system at the path where it is looked for. */
export function systemLibrary(path: string): Entry {
  return copiedFile(path.slice(1), realpathSync(path), 0o755);
}
