import { createHash } from 'node:crypto';
import { createReadStream, existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClusterError } from '../machine/cluster-error.ts';
import { holdLock } from '../machine/lock.ts';
import { cacheFolder } from '../machine/places.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { runClusterProgram } from '../process/run-program.ts';
import type { Archive, ArchiveProgram } from './archives.ts';
import { unpackZip } from './unpack-zip.ts';

const copyGoal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy';

/** The folder of a program's version, next to the folders of the built programs. */
export function folderOfProgram({ name, version }: ArchiveProgram): string {
  return join(cacheFolder(), 'programs', name, version);
}

/**
 * Returns the folder of a program. The first call fetches its archives with Maven, compares their checksums and unpacks
 * them; later calls find it in the cache.
 * @throws ClusterError when Maven is missing, an archive cannot be downloaded or has another checksum
 */
export async function fetchProgram(program: ArchiveProgram, progress: ProgressReporter): Promise<string> {
  const folder = folderOfProgram(program);
  if (existsSync(folder)) return folder;
  using _lock = await holdLock(`program-${program.name}`);
  if (existsSync(folder)) return folder;
  const home = join(cacheFolder(), 'programs', program.name);
  mkdirSync(home, { recursive: true });
  const scratch = mkdtempSync(join(home, '.fetching-'));
  try {
    for (const archive of program.archives) {
      await progress.step(`fetching ${archive.coordinates} (once)`, () => fetchArchive(archive, scratch));
    }
    renameSync(join(scratch, 'program'), folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return folder;
}

async function fetchArchive({ coordinates, sha256, into }: Archive, scratch: string): Promise<void> {
  const folder = mkdtempSync(join(scratch, 'archive-'));
  const options = ['--batch-mode', '--quiet', '--no-transfer-progress'];
  await runClusterProgram('mvn', [...options, copyGoal, `-Dartifact=${coordinates}`, `-DoutputDirectory=${folder}`]);
  const [file] = globSync(join(folder, '*.zip'));
  const found = file === undefined ? 'nothing' : await checksumOf(file);
  if (file === undefined || found !== sha256) {
    throw new ClusterError(
      'build-failed',
      `${coordinates} has the checksum ${found} instead of ${sha256}: remove it from Maven's local repository and repeat.`,
    );
  }
  await unpackZip(file, join(scratch, 'program', into));
  rmSync(folder, { recursive: true });
}

async function checksumOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
