import { FileWriteError } from '#kit/files/write-atomic';
import type { ObjectsFault } from '../../objects-error.ts';

const faults: ReadonlyMap<string, ObjectsFault> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EFBIG', 'full'],
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['EROFS', 'denied'],
  // A symbolic link in the place of a file.
  ['ELOOP', 'denied'],
]);

export function faultOf(error: unknown): ObjectsFault {
  return faults.get(codeOf(error instanceof FileWriteError ? error.cause : error)) ?? 'unreachable';
}

/** Whether there is no file; a file in the place of a folder of the path means the same. */
export function isNoFile(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
