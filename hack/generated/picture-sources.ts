import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files that determine the picture of the console. */
const patterns = ['dataplane/console/assets/*', 'dataplane/console/pages/*.ts', 'dataplane/console/words/en.ts'];

/** SHA-256, hexadecimal, over the sources of the pictures of the documentation. */
export function pictureSources(root: string): string {
  const files = globSync(patterns, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  const hash = createHash('sha256');
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}
