import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sha256Hex } from '#contracts/canonical';

const run = promisify(execFile);

/** A Python with packages, or the reason why this machine has none. */
type Python = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

async function attempt(file: string, args: readonly string[], ms = 180_000): Promise<string | undefined> {
  try {
    await run(file, [...args], { timeout: ms });
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? error.name) : String(error);
  }
}

/**
 * A virtual environment with the packages of a requirements file, kept in the cache folder of the user and recreated
 * when the file changes.
 * @param downloadMs - time for the packages, in milliseconds
 */
export async function preparePython(requirementsFile: string, downloadMs = 180_000): Promise<Python> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'portcullis/python', sha256Hex(readFileSync(requirementsFile)).slice(0, 16));
  const path = join(folder, 'bin/python');
  const complete = join(folder, 'complete');
  if (existsSync(complete)) return { ok: true, path };
  if ((await attempt('python3', ['--version'])) !== undefined) {
    return { ok: false, reason: 'Python 3 is not installed' };
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  if ((await attempt('python3', ['-m', 'venv', folder])) !== undefined) {
    return {
      ok: false,
      reason: 'Python 3 cannot make virtual environments here (Debian: apt-get install python3-venv)',
    };
  }
  const install = ['-m', 'pip', 'install', '--quiet', '--requirement', requirementsFile];
  const fault = await attempt(path, install, downloadMs);
  if (fault !== undefined) return { ok: false, reason: 'the Python packages cannot be installed: no package index' };
  writeFileSync(complete, '');
  return { ok: true, path };
}
