import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A larger log is rotated. */
export const largestLogBytes = 8_388_608;
/** Bytes that are read from the end of a log. */
const tailBytes = 16_384;

/** A log file that a child process appends to. */
type ChildLog = Disposable & {
  /**
   * The file descriptor for the child process. Dispose the log once the child has it; this closes the descriptor of
   * this process.
   */
  readonly descriptor: number;
  /** The last lines since the log was opened. */
  lines(): readonly string[];
};

/** Opens a log in a folder that is created if missing; only their owner may read them. */
export function openChildLog(path: string): ChildLog {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const isLong = size > largestLogBytes;
  if (isLong) renameSync(path, `${path}.1`);
  const descriptor = openSync(path, 'a', 0o600);
  return {
    descriptor,
    lines: () => lastLines(path, isLong ? 0 : size),
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/** The non-empty lines at the end of a log, starting at a position; an empty list if the file cannot be read. */
export function lastLines(path: string, from = 0): readonly string[] {
  try {
    const file = openSync(path, 'r');
    try {
      const { size } = fstatSync(file);
      // A log that is shorter than before was rotated meanwhile.
      const start = Math.max(from > size ? 0 : from, size - tailBytes);
      const buffer = Buffer.alloc(size - start);
      readSync(file, buffer, 0, buffer.length, start);
      return buffer
        .toString('utf8')
        .split('\n')
        .filter((line) => line.trim() !== '');
    } finally {
      closeSync(file);
    }
  } catch {
    return [];
  }
}
