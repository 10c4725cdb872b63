import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImages } from '../../hack/cluster/image/build-images.ts';
import { bringUp } from '../../hack/cluster/life/bring-up.ts';
import { loadImage } from '../../hack/cluster/life/load-image.ts';
import { takeDown } from '../../hack/cluster/life/take-down.ts';
import type { ProgressReporter } from '../../hack/cluster/machine/progress.ts';
import { readRecord } from '../../hack/cluster/record/record.ts';
import type { Timetable } from './timetable.ts';
import type { TestImage } from './tools/chart-values.ts';

export type OwnCluster = AsyncDisposable & {
  /** Images of this checkout, one for each tag. */
  readonly images: readonly TestImage[];
};

/**
 * Starts a cluster, in Docker if available, and loads the images of this checkout under each tag. Disposing stops it
 * unless `PORTCULLIS_E2E_KEEP` is set.
 */
export async function startOwnCluster(
  name: string,
  tags: readonly string[],
  more: { readonly audit?: 'Metadata' },
  { timed }: Timetable,
  progress: ProgressReporter,
): Promise<OwnCluster> {
  await timed('cluster', 'npm run cluster up', () => bringUp({ name, node: 'any', ...more }, progress));
  await using parts = new AsyncDisposableStack();
  parts.defer(async () => {
    if ((process.env['PORTCULLIS_E2E_KEEP'] ?? '') === '') await takeDown(name, progress);
  });
  await timed(`images of tags: ${tags.join(', ')}`, 'npm run cluster load', () => loadImages(name, tags, progress));
  const owned = parts.move();
  return {
    images: tags.map((tag) => ({ repository: 'localhost/portcullis', tag })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function loadImages(name: string, tags: readonly string[], progress: ProgressReporter): Promise<void> {
  const record = readRecord(name);
  if (record === undefined) throw new Error('a cluster that was brought up has a record');
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-e2e-image-'));
  try {
    for (const tag of tags) {
      const { archiveFile } = await progress.step(`building the images ${tag}`, async () =>
        buildImages(join(folder, `${tag}.tar`), tag),
      );
      await progress.step(`loading the images ${tag}`, () => loadImage(record, archiveFile));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}
