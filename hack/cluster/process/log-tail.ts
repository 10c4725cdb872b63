import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** The last lines of a log of any size; empty if the file does not exist. */
export function logTail(path: string, lines: number, bytes = 16_384): readonly string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return [];
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, bytes));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines);
  } finally {
    closeSync(file);
  }
}
