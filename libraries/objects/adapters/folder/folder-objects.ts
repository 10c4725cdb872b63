import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeAtomic } from '#kit/files/write-atomic';
import { checkKey, checkPrefix } from '../../check-key.ts';
import { ObjectsUnavailableError, ObjectTooLargeError } from '../../objects-error.ts';
import type { ObjectStore } from '../../ports.ts';
import { faultOf, isNoFile } from './file-fault.ts';
import { objectFiles } from './object-files.ts';

/**
 * Objects as files of a folder, which must exist. A file is written under a temporary name, flushed to the disk and
 * renamed, so that a reader, or the machine after a power loss, sees the whole file or no file. No symbolic link is
 * read.
 */
export function createFolderObjects(root: string): ObjectStore {
  const pathOf = (key: string): string => {
    checkKey(key);
    return join(root, key);
  };
  return {
    async put(key, bytes) {
      const path = pathOf(key);
      await available(async () => {
        await createFolders(root, dirname(path));
        await writeAtomic(path, bytes);
      });
    },
    async get(key, { maxBytes }) {
      const path = pathOf(key);
      return available(async () => {
        try {
          await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
          return await readAtMost(file, maxBytes);
        } catch (error) {
          // A store whose folder is missing, perhaps not mounted, is unavailable.
          if (isNoFile(error) && (await stat(root)).isDirectory()) return undefined;
          throw error;
        }
      });
    },
    async delete(key) {
      const path = pathOf(key);
      await available(async () => {
        try {
          await rm(path);
          await syncFolder(dirname(path));
        } catch (error) {
          if (!isNoFile(error) || !(await stat(root)).isDirectory()) throw error;
        }
      });
    },
    async *list(prefix) {
      checkPrefix(prefix);
      try {
        await stat(root);
        yield* objectFiles(root, prefix);
      } catch (error) {
        throw new ObjectsUnavailableError(faultOf(error));
      }
    },
    uriOf(key) {
      checkKey(key);
      return `file:///${key}`;
    },
    async [Symbol.asyncDispose]() {},
  };
}

async function readAtMost(file: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const { size } = await file.stat();
  if (size > maxBytes) throw new ObjectTooLargeError(maxBytes);
  return file.readFile();
}

/** Creates the folders between the root, which must exist, and a folder, and flushes their entries to the disk. */
async function createFolders(root: string, folder: string): Promise<void> {
  await stat(root);
  const first = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let created = folder; ; created = dirname(created)) {
    await syncFolder(dirname(created));
    if (created === first) return;
  }
}

async function available<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof ObjectTooLargeError) throw error;
    throw new ObjectsUnavailableError(faultOf(error));
  }
}
