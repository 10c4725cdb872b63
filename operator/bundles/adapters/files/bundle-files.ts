import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import { writeAtomic } from '#kit/files/write-atomic';
import type { BundleStore } from '../../ports.ts';

const bundleFile = /^([0-9a-f]{64})\.json$/;

/** Bundles as files of one folder, each named by its digest. */
export function createBundleFiles(directory: string): BundleStore {
  const held = new Map<string, number>();
  /** What was asked for since the sweep that runs now began: it may be needed by what the sweep did not see. */
  let touched = new Set<string>();

  function hold(digest: string): Disposable {
    held.set(digest, (held.get(digest) ?? 0) + 1);
    touched.add(digest);
    return {
      [Symbol.dispose]() {
        const count = (held.get(digest) ?? 1) - 1;
        if (count === 0) held.delete(digest);
        else held.set(digest, count);
      },
    };
  }

  return {
    async put(digest, bytes) {
      const holding = hold(digest);
      try {
        const path = join(directory, `${digest}.json`);
        if (!(await holds(path, digest))) await writeAtomic(path, bytes);
        return holding;
      } catch (error) {
        holding[Symbol.dispose]();
        throw error;
      }
    },
    async sweep(listNeeded) {
      touched = new Set(held.keys());
      const needed = await listNeeded();
      for (const name of await readdir(directory)) {
        const digest = bundleFile.exec(name)?.[1];
        if (digest === undefined || needed.has(digest) || touched.has(digest)) continue;
        await rm(join(directory, name), { force: true });
      }
    },
  };
}

/** Whether the file holds exactly these bytes; one that was damaged is written anew. */
async function holds(path: string, digest: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes !== undefined && sha256Hex(bytes) === digest;
}
