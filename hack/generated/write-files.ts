import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Difference } from './compare-files.ts';
import type { GeneratedFiles } from './load-generators.ts';

/** Writes the files that differ, and only those. */
export function writeFiles(root: string, files: GeneratedFiles, differences: readonly Difference[]): void {
  for (const { path } of differences) {
    const content = files.get(path);
    if (content === undefined) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}
