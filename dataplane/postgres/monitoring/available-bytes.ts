import { statfs } from 'node:fs/promises';

/** Bytes that can still be written to the file system of a folder; undefined while it cannot be read. */
export async function availableBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}
