import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { buildAllImages, buildImages } from '../image/build-images.ts';
import { loadImage } from '../life/load-image.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { progressOn } from '../machine/progress.ts';
import { recordOf, withName } from './cluster-options.ts';

type NameOption = { readonly name: string };

export function addLoad(program: Command): void {
  withName(program.command('load [archive...]'))
    .description(
      'load image archives of docker save onto the node of a cluster; without an argument, the platform image and the database image of this checkout',
    )
    .action(load);
  program
    .command('image <archive>')
    .description('build all images of this checkout into an archive, which docker load can read, too')
    .action(image);
}

async function load(archives: readonly string[], { name }: NameOption): Promise<void> {
  const progress = progressOn(process.stderr);
  const record = recordOf(name);
  for (const archive of archives) {
    const path = resolve(archive);
    if (!existsSync(path)) throw new ClusterError('usage', `There is no file ${archive}: make one with 'docker save'.`);
    await progress.step(`loading ${archive}`, () => loadImage(record, path));
  }
  if (archives.length > 0) return;
  const scratch = mkdtempSync(join(tmpdir(), 'portcullis-image-'));
  try {
    const built = await progress.step('building the images', async () => buildImages(join(scratch, 'images.tar')));
    const names = built.images.map((image) => image.name).join(' and ');
    await progress.step(`loading ${names}`, () => loadImage(record, built.archiveFile));
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

function image(archive: string): void {
  for (const { name, id } of buildAllImages(resolve(archive)).images) console.log(`${name} ${id}`);
}
