import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { root } from '../check/run-tool.ts';
import { imageName, portcullisImage } from './image/portcullis-image.ts';
import { writeImage } from './image/write-image.ts';

export type BuiltImage = {
  /** Repository and tag, to be named in pods together with `imagePullPolicy: IfNotPresent`. */
  readonly name: string;
  readonly archiveFile: string;
  /** Digest of its configuration: equal for equal files. */
  readonly id: string;
};

/** Builds the image of this checkout into an archive, without an engine and without a registry. */
export function buildImage(archiveFile: string, name = imageName): BuiltImage {
  mkdirSync(dirname(archiveFile), { recursive: true });
  return { name, archiveFile, id: writeImage(archiveFile, portcullisImage(root, name)) };
}
