import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A log that is longer is put aside. */
export const largestLogBytes = 8_388_608;
const lookEveryMs = 1_000;

/**
 * Keeps every log of a folder, whoever writes it, within a bound while its process runs: one that has become longer is
 * copied to `.log.1`, in the place of the one before, and emptied. The process goes on with the same file, which it has
 * open for appending. Where there is no room for the copy the log stays as it is, and is looked at again.
 */
export function boundLogs(folder: string, largestBytes = largestLogBytes, everyMs = lookEveryMs): Disposable {
  const timer = setInterval(() => {
    for (const name of logsOf(folder)) putAsideWhileWritten(join(folder, name), largestBytes);
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Puts a log aside that is longer than the bound, and says whether it was. A line of that very moment may be lost. */
export function putAsideWhileWritten(path: string, largestBytes: number): boolean {
  try {
    const log = openSync(path, 'r+');
    try {
      if (fstatSync(log).size <= largestBytes) return false;
      copyFileSync(path, `${path}.1`);
      copyRest(log, `${path}.1`);
      ftruncateSync(log, 0);
      return true;
    } finally {
      closeSync(log);
    }
  } catch {
    // It is gone, or there is no room.
    return false;
  }
}

/** What was written while the copy was made. */
function copyRest(log: number, copied: string): void {
  const copy = openSync(copied, 'r+');
  try {
    let at = fstatSync(copy).size;
    const part = Buffer.alloc(65_536);
    for (;;) {
      const bytes = readSync(log, part, 0, part.length, at);
      if (bytes === 0) return;
      writeSync(copy, part, 0, bytes, at);
      at += bytes;
    }
  } finally {
    closeSync(copy);
  }
}

function logsOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.log'));
  } catch {
    return [];
  }
}
