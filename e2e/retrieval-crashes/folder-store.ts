import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { ObjectEntry, ObjectStore } from '#objects/ports';

/** Objects as files, shared by the processes of a crash test. */
export function folderStore(folder: string): ObjectStore {
  return {
    async put(key, bytes) {
      const temporary = join(folder, `.${randomUUID()}`);
      await writeFile(temporary, bytes);
      await mkdir(dirname(join(folder, key)), { recursive: true });
      await rename(temporary, join(folder, key));
    },
    get: (key) => readFile(join(folder, key)).catch(() => undefined),
    delete: (key) => rm(join(folder, key), { force: true }),
    async *list(prefix): AsyncIterable<ObjectEntry> {
      const found = await readdir(join(folder, prefix), { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of found.filter((one) => one.isFile())) {
        const path = join(entry.parentPath, entry.name);
        const { size, mtime } = await stat(path);
        yield { key: relative(folder, path), bytes: size, modifiedAt: mtime };
      }
    },
    uriOf: (key) => `file://${folder}/${key}`,
    [Symbol.asyncDispose]: async () => undefined,
  };
}
