import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sha256Hex } from '#contracts/canonical';

const run = promisify(execFile);

/** A folder with packages of npm, or the reason why this machine has none. */
type NodePackages = { readonly ok: true; readonly folder: string } | { readonly ok: false; readonly reason: string };

/**
 * The packages of a file with the content of a package.json, kept in the cache folder of the user and installed again
 * when the file changes. These packages are clients that only a figure runs, so that they are not dependencies of this
 * repository.
 */
export async function prepareNodePackages(packageFile: string): Promise<NodePackages> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'portcullis/node', sha256Hex(readFileSync(packageFile)).slice(0, 16));
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { ok: true, folder };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync(packageFile, join(folder, 'package.json'));
  try {
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  } catch {
    return { ok: false, reason: 'the packages of npm cannot be installed: no registry' };
  }
  writeFileSync(complete, '');
  return { ok: true, folder };
}
