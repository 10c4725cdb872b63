import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copiedFile } from '../image/entry.ts';
import { type Image, writeImages } from '../image/write-image.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { cacheFolder } from '../machine/places.ts';

const source = fileURLToPath(new URL('./pause.c', import.meta.url));

export const pauseImage = 'localhost/pause:1';

/** Builds the pause program and its image, once. @throws ClusterError without a C compiler */
export function buildPause(): { readonly program: string; readonly archiveFile: string } {
  const key = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const folder = join(cacheFolder(), 'pause', `${key}-${process.arch}`);
  const program = join(folder, 'pause');
  const archiveFile = join(folder, 'image.tar');
  mkdirSync(folder, { recursive: true });
  if (!existsSync(program)) {
    try {
      execFileSync('cc', ['-static', '-Os', '-s', '-o', `${program}.new`, source], { stdio: 'pipe' });
    } catch (cause) {
      throw new ClusterError(
        'missing-program',
        'A C compiler with its static library is needed once: install gcc and libc6-dev (Debian) and try again.',
        { cause },
      );
    }
    renameSync(`${program}.new`, program);
  }
  if (!existsSync(archiveFile)) {
    const image: Image = {
      name: pauseImage,
      layers: [[copiedFile('pause', program, 0o755)]],
      user: '65535:65535',
      workingFolder: '/',
      entrypoint: ['/pause'],
      command: [],
      environment: {},
    };
    writeImages(archiveFile, [image]);
  }
  return { program, archiveFile };
}
