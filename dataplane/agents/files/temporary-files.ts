import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRunning } from '#kit/process/is-running';
import { removeOlder } from './folder-access.ts';
import { type FileProvider, FileUnavailableError } from './ports.ts';

/** Age after which an object is removed: the longest run and the longest reading before it, milliseconds. */
const objectMs = 1_000_000;

/**
 * Temporary files of one version. A process opens them once. An object is removed at the end of its run. Objects of a
 * process that was killed are removed when the next process starts; all other objects are removed when they expire:
 * expiry is checked at the start and with each new object (`fileref:adapter:cleanup`).
 */
export async function openTemporaryFiles(folder: string, expireMs = objectMs): Promise<FileProvider> {
  await removeAbandoned(folder);
  await removeOlder(folder, expireMs);
  return {
    async put(bytes) {
      const id = randomUUID();
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await removeOlder(folder, expireMs);
        await writeFile(pathOf(folder, id), bytes, { flag: 'wx', mode: 0o600 });
      } catch {
        await rm(pathOf(folder, id), { force: true }).catch(() => undefined);
        throw new FileUnavailableError();
      }
      return id;
    },
    async remove(id) {
      await rm(pathOf(folder, id), { force: true }).catch(() => undefined);
    },
  };
}

/** The name of an object begins with the id of the process that removes it. */
function pathOf(folder: string, id: string): string {
  return join(folder, `${process.pid}.${id}`);
}

/**
 * Removes the objects of processes that have ended. A process that was restarted in its container has the same id as
 * the previous process. On a machine, another process of the version may still be finishing its runs.
 */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, pid] = /^(\d+)\./.exec(name) ?? [];
    const isAbandoned = pid !== undefined && (Number(pid) === process.pid || !isRunning(Number(pid)));
    if (isAbandoned) await rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}
