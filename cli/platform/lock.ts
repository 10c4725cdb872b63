import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CliError } from '../errors/cli-error.ts';

/** The only platform of a data directory holds it; disposing it gives it free. */
export type PlatformLock = Disposable;

/** How long a look at the lock by somebody else may make a start wait. */
const patienceMs = 1_000;

/**
 * Takes the lock of a data directory; undefined when another process holds it.
 * It is the write lock that SQLite keeps on an empty database file: the kernel lets go of it with the process, however
 * that ends, and no process id is looked at, so that a reused one misleads nobody.
 */
export function takeLock(path: string): PlatformLock | undefined {
  const database = openLock(path, patienceMs);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw unusable(path, error);
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** Whether a process holds the lock now. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = openLock(path, 0);
  try {
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw unusable(path, error);
  } finally {
    database.close();
  }
}

function openLock(path: string, timeout: number): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout });
  } catch (error) {
    throw unusable(path, error);
  }
}

function unusable(path: string, cause: unknown): CliError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CliError('failed', `The lock ${path} cannot be used: ${reason}.`, { cause });
}

/** SQLITE_BUSY. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}
