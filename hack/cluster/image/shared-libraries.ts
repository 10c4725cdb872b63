import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { ClusterError } from '../cluster-error.ts';
import { copiedFile, type Entry } from './entry.ts';

/** `name => /path (address)` or `/path (address)`; what the kernel maps by itself has no path. */
const line = /^\s*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm;

/**
 * The shared libraries of programs and addons of this machine, the loader among them, at the paths where they are looked
 * for. @throws ClusterError when one of them is not there
 */
export function sharedLibraries(programs: readonly string[]): readonly Entry[] {
  const paths = new Set<string>();
  for (const program of programs) {
    const output = execFileSync('ldd', [program], { encoding: 'utf8' });
    const missing = /^\s*(\S+) => not found$/m.exec(output);
    if (missing !== null) {
      throw new ClusterError('missing-program', `${program} needs the library ${missing[1]}, which is not installed.`);
    }
    for (const match of output.matchAll(line)) paths.add(match[1] ?? '');
  }
  return [...paths].map((path) => copiedFile(path.slice(1), realpathSync(path), 0o755));
}
