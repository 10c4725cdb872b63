// Usage: hack/run hack/engine-package/main.ts FOLDER [CHECKSUMS]: writes the engine package of this system below a folder
// and records its checksum in the file, hack/engine-package/checksums by default.
// Usage: hack/run hack/engine-package/main.ts --pin: records the checksums of the engines that re2 offers ready-made.
import { resolve } from 'node:path';
import { offeredChecksums } from './engine-package.ts';
import { ownChecksums, readPackage, recordChecksums, writeEnginePackage } from './write-engine-package.ts';

const [folder, checksums = ownChecksums] = process.argv.slice(2);
if (folder === '--pin') recordChecksums(ownChecksums, offeredChecksums(readPackage()));
else if (folder !== undefined) writeEnginePackage(resolve(folder), resolve(checksums));
else {
  console.error('engine-package: name the folder to write to.');
  process.exitCode = 2;
}
