// Usage: hack/run hack/cluster/image/stage.ts FOLDER: writes the files of the image below a folder, for the Dockerfile.
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { root } from '../../check/run-tool.ts';
import { bytesOf, type Entry, withFolders } from './entry.ts';
import { portcullisImage } from './portcullis-image.ts';

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
      writeFileSync(path, bytesOf(entry.content));
      chmodSync(path, entry.mode);
      break;
  }
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('stage: name the folder to write to.');
  process.exitCode = 2;
} else {
  mkdirSync(resolve(folder), { recursive: true });
  for (const layer of portcullisImage(root).layers)
    for (const entry of withFolders(layer)) write(resolve(folder), entry);
}
