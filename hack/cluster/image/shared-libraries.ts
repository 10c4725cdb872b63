import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { normalize } from 'node:path';
import { ClusterError } from '../machine/cluster-error.ts';
import { copiedFile, type Entry } from './entry.ts';

/** A line of ldd is `name => /path (address)` or `/path (address)`; the vDSO of the kernel has no path. */
const line = /^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm;

/**
 * Paths of the shared libraries of programs and addons on this machine, including the loader; links are not resolved.
 * @throws ClusterError when a library is missing
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

/** A system library at the path where the loader searches for it. */
export function systemLibrary(path: string): Entry {
  return copiedFile(path.slice(1), realpathSync(path), 0o755);
}
