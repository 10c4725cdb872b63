import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An installed package, or the reason why this machine has none. */
type NpmPackage = { readonly ok: true; readonly folder: string } | { readonly ok: false; readonly reason: string };

/**
 * A package of the npm registry with its dependencies, separate from those of this checkout, for a client that tests
 * call as its users do. The package is stored in the cache folder of the user.
 */
export async function prepareNpmPackage(name: string, version: string): Promise<NpmPackage> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const root = join(cache, 'portcullis/npm', `${name}-${version}`);
  const folder = join(root, 'node_modules', name);
  const complete = join(root, 'complete');
  if (existsSync(complete)) return { ok: true, folder };
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'package.json'), '{ "private": true }\n');
  // The client does not need peer dependencies, and package scripts are not run.
  const words = ['install', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`];
  try {
    await run('npm', words, { cwd: root, timeout: 180_000 });
  } catch {
    return { ok: false, reason: `the package ${name} cannot be installed: no npm registry` };
  }
  writeFileSync(complete, '');
  return { ok: true, folder };
}
