// Usage: hack/run hack/cluster/image/stage.ts FOLDER POSTGRES_FOLDER STANDALONE_FOLDER: writes, for the Dockerfile, the
// files of the platform image to the first folder, and the additional files of each other image to the folder of that
// image.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from '../../check/run-tool.ts';
import { contentBytes, type Entry, withFolders } from './entry.ts';
import { portcullisImage } from './portcullis-image.ts';
import { postgresImage } from './postgres-image.ts';
import { standaloneImage } from './standalone-image.ts';

function write(folder: string, entry: Entry): void {
  const path = join(folder, entry.path);
  switch (entry.kind) {
    case 'folder':
      mkdirSync(path, { recursive: true });
      chmodSync(path, entry.mode);
      break;
    case 'link':
      symlinkSync(entry.target, path);
      break;
    case 'file':
      writeFileSync(path, contentBytes(entry.content));
      chmodSync(path, entry.mode);
      break;
  }
}

function writeLayers(folder: string, layers: readonly (readonly Entry[])[]): void {
  mkdirSync(folder, { recursive: true });
  for (const layer of layers) for (const entry of withFolders(layer)) write(folder, entry);
}

const [folder, postgresFolder, standaloneFolder] = process.argv.slice(2);
if (folder === undefined || postgresFolder === undefined || standaloneFolder === undefined) {
  console.error('stage: three folders are required: FOLDER, POSTGRES_FOLDER and STANDALONE_FOLDER');
  process.exitCode = 2;
} else {
  const platform = portcullisImage(root);
  writeLayers(resolve(folder), platform.layers);
  const database = postgresImage(root, platform);
  writeLayers(resolve(postgresFolder), database.layers.slice(platform.layers.length));
  writeLayers(resolve(standaloneFolder), standaloneImage(root, database).layers.slice(database.layers.length));
}
