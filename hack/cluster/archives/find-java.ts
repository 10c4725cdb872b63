import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The folder of a Java of at least this version: JAVA_HOME, or the newest installed Java; undefined if there is none.
 */
export function findJava(least: number): string | undefined {
  const given = process.env['JAVA_HOME'];
  const installed = globSync(['/usr/lib/jvm/*', '/opt/java/*', '/Library/Java/JavaVirtualMachines/*/Contents/Home']);
  const homes = [...(given === undefined ? [] : [given]), ...installed];
  const known = homes.map((home) => ({ home, version: versionOf(home) })).filter(({ version }) => version >= least);
  const preferred = known.find(({ home }) => home === given);
  return (preferred ?? known.sort((one, other) => other.version - one.version)[0])?.home;
}

/** The first number of the version in the file `release` of a Java; 0 if there is no such file. */
function versionOf(home: string): number {
  try {
    return Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(join(home, 'release'), 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
