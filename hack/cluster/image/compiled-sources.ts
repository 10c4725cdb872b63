import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry } from './entry.ts';

/** The programs that pods start, and the child processes of the operator. */
const programs = [
  ...['runtime/main.ts', 'runtime/judge.ts', 'operator/main.ts', 'operator/agents/checking/main.ts'],
  ...['operator/management/main.ts', 'dataplane/*/main.ts'],
];
/** The folder of the cache, relative to the checkout and to its place in the image. */
const place = 'node_modules/.compiled';

/** Settings with which Node finds the cache below the home folder of the image, wherever it was written. */
export function compiledSettings(home: string): Readonly<Record<string, string>> {
  return { NODE_COMPILE_CACHE: `/${home}/${place}`, NODE_COMPILE_CACHE_PORTABLE: '1' };
}

/**
 * The sources of the programs without their types, as Node caches them: a process that finds them loads no TypeScript
 * parser, which saves a third of the processor time of its start and 30 MiB. Compiled code is left out, because its
 * bytes differ from run to run.
 * @param user the user who runs the image: Node has one cache for each user
 */
export function compiledSources(root: string, home: string, user: number): readonly Entry[] {
  // The folder has the same depth as its place in the image, because the names of entries are digests of relative
  // paths.
  const cache = mkdtempSync(join(root, `${place}-`));
  try {
    const files = globSync(programs, { cwd: root }).toSorted();
    execFileSync(process.execPath, [join(root, 'hack', 'compile-sources.mjs'), ...files], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...compiledSettings(''), NODE_COMPILE_CACHE: cache },
      stdio: 'ignore',
    });
    const [versions = cache] = readdirSync(cache).map((name) => join(cache, name));
    const folder = basename(versions).replace(/-\d+$/, `-${user}`);
    return readdirSync(versions)
      .toSorted()
      .map((name) => ({ name, bytes: readFileSync(join(versions, name)) }))
      .filter(({ bytes }) => !isCode(bytes))
      .map(({ name, bytes }) => ({
        kind: 'file',
        path: `${home}/${place}/${folder}/${name}`,
        mode: 0o644,
        content: { bytes },
      }));
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}

/** The head that Node writes before each entry, five words. */
const headBytes = 20;
/** The upper half of the first word of code that V8 serialised. */
const codeMark = 0xc0de;

function isCode(bytes: Buffer): boolean {
  return bytes.length >= headBytes + 4 && bytes.readUInt16LE(headBytes + 2) === codeMark;
}
