import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Account } from './account.ts';
import { type Binaries, platformPackage } from './binaries.ts';
import { ServerError } from './server-error.ts';

/**
 * The path of PostgreSQL programs that the account can execute. If the checkout is in a folder that only root may
 * enter, the programs are copied once per version into a temporary folder that belongs to root.
 */
export function reachableBinaries(binaries: Binaries, account: Account | undefined): Binaries {
  if (account === undefined || canRun(binaries.home, account)) return binaries;
  const name = `portcullis-${platformPackage.replace(/^.*\//, 'postgres-')}-${binaries.major}`;
  const home = join(tmpdir(), name);
  if (isOurs(home) && canRun(home, account)) return { ...binaries, home };
  const made = mkdtempSync(join(tmpdir(), `${name}-`));
  try {
    cpSync(binaries.home, made, { recursive: true, verbatimSymlinks: true });
    chmodSync(made, 0o755);
    if (isOurs(home)) rmSync(home, { recursive: true });
    if (!existsSync(home)) renameSync(made, home);
  } catch (cause) {
    rmSync(made, { recursive: true, force: true });
    throw new ServerError(
      'no_binaries',
      `the programs of PostgreSQL cannot be copied to ${home}: make room there`,
      cause,
    );
  }
  if (isOurs(home) && canRun(home, account)) return { ...binaries, home };
  throw new ServerError(
    'no_binaries',
    `${home} does not belong to root or does not allow programs to run: remove it, or set TMPDIR to a folder that does`,
  );
}

function canRun(home: string, account: Account): boolean {
  // The server needs more libraries than its tools, and a copy may lack some.
  // A root process without CAP_SETUID cannot switch accounts; the start of the server then reports the error.
  return spawnSync(join(home, 'bin', 'postgres'), ['--version'], { cwd: '/', env: {}, ...account }).status === 0;
}

function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === 0 && (found.mode & 0o022) === 0;
}
