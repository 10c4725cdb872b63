import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

type FileWriteFault = 'disk_full' | 'denied' | 'other';

/** A file could not be written or removed; its previous content is unchanged. */
export class FileWriteError extends Error {
  readonly code: FileWriteFault;

  constructor(code: FileWriteFault, path: string, cause: unknown) {
    super(`cannot write ${path}: ${SENTENCES[code]}`, { cause });
    this.name = 'FileWriteError';
    this.code = code;
  }
}

const SENTENCES = {
  disk_full: 'no space left',
  denied: 'not permitted',
  other: 'the system refused',
} as const satisfies Record<FileWriteFault, string>;

const FAULTS: ReadonlyMap<string, FileWriteFault> = new Map([
  ['ENOSPC', 'disk_full'],
  ['EDQUOT', 'disk_full'],
  ['EACCES', 'denied'],
  ['EPERM', 'denied'],
  ['EROFS', 'denied'],
]);

/**
 * Writes a file atomically and durably: a reader, or the machine after a power loss, sees the old or the new bytes.
 * @param options.mode permission bits of the file, independent of the umask; 0o600 when absent
 * @throws FileWriteError
 */
export async function writeAtomic(
  path: string,
  bytes: Uint8Array | string,
  options: { readonly mode?: number } = {},
): Promise<void> {
  const folder = dirname(path);
  const mode = options.mode ?? 0o600;
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await using file = await open(temporary, 'wx', mode);
    await file.chmod(mode);
    await file.writeFile(bytes);
    await file.sync();
    await rename(temporary, path);
    await syncFolder(folder);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw new FileWriteError(faultOf(cause), path, cause);
  }
}

/**
 * Removes a file durably.
 * @throws FileWriteError
 */
export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path);
    await syncFolder(dirname(path));
  } catch (cause) {
    throw new FileWriteError(faultOf(cause), path, cause);
  }
}

/** Flushes the entries of a folder to the disk. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle: FileHandle = await open(folder, 'r');
  await handle.sync();
}

function faultOf(cause: unknown): FileWriteFault {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  return FAULTS.get(code) ?? 'other';
}
