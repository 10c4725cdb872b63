import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { largestLogBytes } from '#kit/process/child-log';

const lookEveryMs = 1_000;

/**
 * Rotates the logs of a folder while their processes run: a log over the limit is copied to `.log.1` and truncated. The
 * process of a log keeps the file open for appending. If there is no space for the copy, the log is not changed until
 * the next check.
 */
export function boundLogs(folder: string, largestBytes = largestLogBytes, everyMs = lookEveryMs): Disposable {
  const timer = setInterval(() => {
    for (const name of logsOf(folder)) rotateLog(join(folder, name), largestBytes);
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Rotates a log over the limit and returns whether it did. A line written at that moment can be lost. */
export function rotateLog(path: string, largestBytes: number): boolean {
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
    // The log does not exist, or the disk is full.
    return false;
  }
}

/** Copies bytes that were written during the copy. */
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
