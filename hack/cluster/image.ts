import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from '../check/run-tool.ts';
import { defaultTag, portcullisImage } from './image/portcullis-image.ts';
import { postgresImage } from './image/postgres-image.ts';
import { writeImages } from './image/write-image.ts';

type BuiltImage = {
  /** Repository and tag of the image; pods name it with `imagePullPolicy: IfNotPresent`. */
  readonly name: string;
  /** Digest of the image configuration: equal for equal files. */
  readonly id: string;
};

/** Both images of this checkout: first the platform image, then the database image. */
type BuiltImages = { readonly archiveFile: string; readonly images: readonly BuiltImage[] };

/** Builds the images of this checkout into one archive, without an engine and without a registry. */
export function buildImages(archiveFile: string, tag = defaultTag): BuiltImages {
  mkdirSync(dirname(archiveFile), { recursive: true });
  const platform = portcullisImage(root, tag);
  const images = [platform, postgresImage(root, platform)];
  const ids = writeImages(archiveFile, images);
  return { archiveFile, images: images.map(({ name }, at) => ({ name, id: ids[at] ?? '' })) };
}
