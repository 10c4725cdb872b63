import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from '../../check/run-tool.ts';
import { defaultTag, portcullisImage } from './portcullis-image.ts';
import { postgresImage } from './postgres-image.ts';
import { standaloneImage } from './standalone-image.ts';
import { type Image, writeImages } from './write-image.ts';

type BuiltImage = {
  /** Repository and tag of the image; pods name it with `imagePullPolicy: IfNotPresent`. */
  readonly name: string;
  /** Digest of the image configuration: equal for equal files. */
  readonly id: string;
};

/** The images of a cluster: first the platform image, then the database image. */
type BuiltImages = { readonly archiveFile: string; readonly images: readonly BuiltImage[] };

/** Builds the images of a cluster into one archive, without a container engine and without a registry. */
export function buildImages(archiveFile: string, tag = defaultTag): BuiltImages {
  const platform = portcullisImage(root, tag);
  const database = postgresImage(root, platform);
  return write(archiveFile, [platform, database]);
}

/** Builds the same images, and also the image of the standalone platform, which no cluster runs. */
export function buildAllImages(archiveFile: string, tag = defaultTag): BuiltImages {
  const platform = portcullisImage(root, tag);
  const database = postgresImage(root, platform);
  return write(archiveFile, [platform, database, standaloneImage(root, database)]);
}

function write(archiveFile: string, images: readonly Image[]): BuiltImages {
  mkdirSync(dirname(archiveFile), { recursive: true });
  const ids = writeImages(archiveFile, images);
  return { archiveFile, images: images.map(({ name }, at) => ({ name, id: ids[at] ?? '' })) };
}
