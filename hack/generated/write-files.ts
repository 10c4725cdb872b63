import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

type Difference = { readonly path: string; readonly kind: 'missing' | 'different' };

/** Files of the checkout that differ from the output of their generator, byte for byte. */
export function compareFiles(root: string, files: GeneratedFiles): readonly Difference[] {
  const differences: Difference[] = [];
  for (const [path, content] of files) {
    const file = join(root, path);
    if (!existsSync(file)) differences.push({ path, kind: 'missing' });
    else if (!readFileSync(file).equals(Buffer.from(content))) differences.push({ path, kind: 'different' });
  }
  return differences;
}
