import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../../e2e/support/start-process.ts';

const repository = new URL('../../../', import.meta.url);
/** Files whose content determines a new data folder. */
const sources = ['package-lock.json', 'dataplane/postgres/server/data-folder.ts', 'dataplane/postgres/server/owner.ts'];

/** The settings of the process dataplane/postgres for a folder and the password file in it. */
export function postgresSettings(folder: string): Record<string, string> {
  return {
    PORTCULLIS_POSTGRES_DIR: join(folder, 'postgres'),
    PORTCULLIS_DATABASE_PASSWORD_FILE: join(folder, 'password'),
    PORTCULLIS_EXIT_WITH_STDIN: '1',
  };
}

export function writePassword(folder: string): void {
  const path = join(folder, 'password');
  if (!existsSync(path)) writeFileSync(path, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 });
}

/**
 * A folder with the password file and the data of a server that was started once and shut down. The folder is kept in
 * the cache folder of the user, because a copy takes a tenth of the time of a first start.
 */
export async function preparedFolder(): Promise<string> {
  const digest = createHash('sha256');
  for (const path of sources) digest.update(readFileSync(new URL(path, repository)));
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const prepared = join(cache, 'portcullis/postgres', digest.digest('hex').slice(0, 16));
  if (existsSync(prepared)) return prepared;
  const unfinished = `${prepared}.${randomBytes(4).toString('hex')}`;
  try {
    await prepare(unfinished);
    renameSync(unfinished, prepared);
  } catch (error) {
    // Another process may have prepared the folder at the same time.
    if (!existsSync(prepared)) throw error;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return prepared;
}

/** Starts a server once and shuts it down. */
async function prepare(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePassword(folder);
  const running = await startProcess({ file: 'dataplane/postgres/main.ts', environment: postgresSettings(folder) });
  await running[Symbol.asyncDispose]();
}
