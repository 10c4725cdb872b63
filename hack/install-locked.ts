import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';

/**
 * Installs the packages of the lock file of a folder once, outside of this checkout: in the user's cache, again when
 * the lock file changes. Returns the folder that holds node_modules. @throws if npm fails
 */
export function installLocked(own: string, name: string): string {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'portcullis', name);
  const lock = readFileSync(join(own, 'package-lock.json'));
  const folder = join(cache, sha256Hex(lock).slice(0, 16));
  if (existsSync(join(folder, 'complete'))) return folder;
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(own, file), join(folder, file));
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(join(folder, 'complete'), '');
  return folder;
}
