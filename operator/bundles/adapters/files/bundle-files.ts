import { access, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '#contracts/canonical';
import { writeAtomic } from '#kit/files/write-atomic';
import type { Logger } from '#kit/log/logger';
import { watchDirectory } from '../../../folder-api/watch-directory.ts';
import { createHoldings } from '../../holdings.ts';
import type { BundleStore } from '../../ports.ts';

const bundleFile = /^([0-9a-f]{64})\.json$/;

/** Bundles as files in one folder, each named by its digest. */
export function createBundleFiles(directory: string, logger: Logger): BundleStore {
  const holdings = createHoldings();
  let stored = new Set<string>();
  let listener: (digest: string) => void = () => undefined;
  let looking = look();
  const stopWatching = watchDirectory(
    directory,
    () => {
      looking = looking.then(look);
    },
    logger,
  );

  async function list(): Promise<readonly string[]> {
    const names = await readdir(directory);
    return names.flatMap((name) => bundleFile.exec(name)?.[1] ?? []);
  }

  async function look(): Promise<void> {
    const now = new Set(await list().catch(() => []));
    const lost = stored.difference(now);
    stored = now;
    for (const digest of lost) listener(digest);
  }

  return {
    async put(digest, bytes) {
      const holding = holdings.hold(digest);
      try {
        const path = pathOf(directory, digest);
        if (!(await holds(path, digest))) await writeAtomic(path, bytes);
        stored.add(digest);
        return holding;
      } catch (error) {
        holding[Symbol.dispose]();
        throw error;
      }
    },
    has: (digest) =>
      access(pathOf(directory, digest)).then(
        () => true,
        () => false,
      ),
    async sweep(listNeeded) {
      holdings.beginSweep();
      const needed = await listNeeded();
      for (const digest of await list()) {
        if (needed.has(digest) || holdings.isTouched(digest)) continue;
        await rm(pathOf(directory, digest), { force: true });
      }
    },
    onLost(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      stopWatching();
      await looking;
    },
  };
}

function pathOf(directory: string, digest: string): string {
  return join(directory, `${digest}.json`);
}

/** Whether the file contains exactly these bytes; a damaged file is written again. */
async function holds(path: string, digest: string): Promise<boolean> {
  const bytes = await readFile(path).catch(() => undefined);
  return bytes !== undefined && sha256Hex(bytes) === digest;
}
