import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CliError } from '../errors/cli-error.ts';

/** The lock of a data directory, held by the only platform that uses it; disposing releases the lock. */
export type PlatformLock = Disposable;

/** Longest time that a start waits because another process checks the lock. */
const patienceMs = 1_000;

/**
 * Acquires the lock of a data directory; undefined when another process holds it. The lock is the write lock of SQLite
 * on an empty database file: the kernel releases it when the process exits for any reason. Process ids are not
 * compared, because they can be reused.
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

/** Whether the error is SQLITE_BUSY, which means that another process holds the lock. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}
