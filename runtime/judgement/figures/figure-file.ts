import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FileWriteError, writeAtomic } from '#kit/files/write-atomic';
import { figuresSchema, noFigures, type StoredFigures } from './figure-schemas.ts';

/** A larger file is not read. */
const maxBytes = 8 * 1_024 * 1_024;
/** Files of other builds that are kept, for example of other checkouts of the same user. */
const keptBuilds = 3;
const fileForm = /^figures-[0-9a-f]{32}\.json$/;
/** Leftovers of validations that were killed during a write, and their minimum age, which is longer than any write. */
const leftoverForm = /^\.figures-[0-9a-f]{32}\.json\.[0-9a-f-]{36}\.tmp$/;
const leftoverMs = 600_000;

/**
 * Figures of patterns on disk, for later validations. The file is an optimization: if it is missing, damaged, from
 * another build or accessible to other users, it counts as empty, and a runtime computes its own figures when it loads
 * a bundle.
 */
export type FigureFile = {
  read(): Promise<StoredFigures>;
  /**
   * Replaces the file atomically; if the file cannot be written, it is unchanged. Of concurrent writers the last one
   * succeeds; figures that only the others had are computed again.
   */
  write(figures: StoredFigures): Promise<void>;
};

/** @param folder the folder of the file, which is created if it is missing */
export async function openFigureFile(folder: string): Promise<FigureFile> {
  if (!(await isOwnFolder(folder))) return { read: async () => noFigures, write: async () => {} };
  const path = join(folder, `figures-${await buildOfFigures()}.json`);
  return {
    async read() {
      try {
        return parse(await readOwn(path));
      } catch {
        return noFigures;
      }
    },
    async write(figures) {
      const text = JSON.stringify(figures);
      try {
        await writeAtomic(path, `${sha256(text)}\n${text}`);
      } catch (error) {
        if (!(error instanceof FileWriteError)) throw error;
        return;
      }
      await removeOldFiles(folder);
    },
  };
}

/**
 * Whether only this account can write to the folder: otherwise figures of another account could decide which patterns
 * are admitted.
 */
async function isOwnFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const found = await lstat(folder);
    return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

async function readOwn(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const found = await file.stat();
  if (!found.isFile() || found.uid !== process.getuid?.() || found.size > maxBytes) return '';
  return await file.readFile('utf8');
}

/** The figures in a file; empty unless the digest in the first line is that of the second line. */
function parse(content: string): StoredFigures {
  const end = content.indexOf('\n');
  const text = content.slice(end + 1);
  if (end < 0 || content.slice(0, end) !== sha256(text)) return noFigures;
  return figuresSchema.parse(JSON.parse(text));
}

/** Removes figures of builds other than the newest, and leftover files. A file that cannot be removed stays. */
async function removeOldFiles(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const builds = await withTimes(folder, fileForm, names);
  const leftovers = await withTimes(folder, leftoverForm, names);
  const newest = Math.max(...builds.map(({ at }) => at));
  const old = [
    ...builds.toSorted((one, other) => other.at - one.at).slice(1 + keptBuilds),
    ...leftovers.filter(({ at }) => at < newest - leftoverMs),
  ];
  await Promise.all(old.map(({ path }) => rm(path, { force: true }).catch(() => undefined)));
}

/** The files of a form, with the time of their last change in milliseconds, 0 where it cannot be read. */
async function withTimes(folder: string, form: RegExp, names: readonly string[]) {
  return Promise.all(
    names
      .filter((name) => form.test(name))
      .map(async (name) => {
        const path = join(folder, name);
        return { path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 };
      }),
  );
}

/** The digest of everything that figures follow from: the sources of `runtime/rules`. */
async function buildOfFigures(): Promise<string> {
  const root = join(import.meta.dirname, '../../rules');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$|\.json$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(testing|testdata)\//.test(path.slice(root.length)))
    .toSorted();
  const hash = createHash('sha256').update('1');
  for (const path of paths) hash.update(`\0${path.slice(root.length)}\0`).update(await readFile(path));
  return hash.digest('hex').slice(0, 32);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
