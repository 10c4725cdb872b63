import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeOlder } from './folder-access.ts';
import { type FileProvider, FileUnavailableError } from './ports.ts';

/** Age after which an object is removed: the longest run and the longest reading before it, milliseconds. */
const objectMs = 1_000_000;

/**
 * Temporary files of one version. An object is removed at the end of its run; objects of a process that was killed are
 * removed when they expire, at the start and with each new object (`fileref:adapter:cleanup`).
 */
export async function openTemporaryFiles(folder: string, expireMs = objectMs): Promise<FileProvider> {
  await removeOlder(folder, expireMs);
  return {
    async put(bytes) {
      const id = randomUUID();
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await removeOlder(folder, expireMs);
        await writeFile(join(folder, id), bytes, { flag: 'wx', mode: 0o600 });
      } catch {
        await rm(join(folder, id), { force: true }).catch(() => undefined);
        throw new FileUnavailableError();
      }
      return id;
    },
    async remove(id) {
      await rm(join(folder, id), { force: true }).catch(() => undefined);
    },
  };
}
