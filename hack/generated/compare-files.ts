import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GeneratedFiles } from './load-generators.ts';

export type Difference = { readonly path: string; readonly kind: 'missing' | 'different' };

/** What the checkout holds otherwise than its generator makes it; byte for byte. */
export function compareFiles(root: string, files: GeneratedFiles): readonly Difference[] {
  const differences: Difference[] = [];
  for (const [path, content] of files) {
    const file = join(root, path);
    if (!existsSync(file)) differences.push({ path, kind: 'missing' });
    else if (!readFileSync(file).equals(Buffer.from(content))) differences.push({ path, kind: 'different' });
  }
  return differences;
}
