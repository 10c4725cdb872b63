import { FileWriteError } from '#kit/files/write-atomic';
import type { ObjectsFault } from '../../objects-error.ts';

const faults: ReadonlyMap<string, ObjectsFault> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EFBIG', 'full'],
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['EROFS', 'denied'],
  // The error for a symbolic link where a file is expected.
  ['ELOOP', 'denied'],
]);

export function faultOf(error: unknown): ObjectsFault {
  return faults.get(codeOf(error instanceof FileWriteError ? error.cause : error)) ?? 'unreachable';
}

/** Whether a file does not exist; a file where the path expects a folder means the same. */
export function isNoFile(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
