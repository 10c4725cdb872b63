import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isKey } from '../../check-key.ts';
import type { ObjectEntry } from '../../ports.ts';
import { isNoFile } from './file-fault.ts';

/**
 * Files below a folder in the order of their keys. Symbolic links, and files whose names are not segments of a key,
 * such as temporary files, are not objects.
 * @param prefix '' or a folder with a slash at its end
 */
export async function* objectFiles(root: string, prefix: string): AsyncGenerator<ObjectEntry> {
  for (const entry of await entriesOf(join(root, prefix))) {
    const key = `${prefix}${entry.name}`;
    if (!isKey(key)) continue;
    if (entry.isDirectory()) yield* objectFiles(root, `${key}/`);
    if (!entry.isFile()) continue;
    const stats = await lstat(join(root, key)).catch(unlessAbsent);
    if (stats !== undefined) yield { key, bytes: stats.size, modifiedAt: stats.mtime };
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(unlessAbsent)) ?? [];
  // In the order of keys a slash follows a dot and a hyphen: `a-b` is before `a/b`.
  const named = entries.map((entry) => ({ entry, name: entry.isDirectory() ? `${entry.name}/` : entry.name }));
  return named.sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ entry }) => entry);
}

function unlessAbsent(error: unknown): undefined {
  if (!isNoFile(error)) throw error;
}
