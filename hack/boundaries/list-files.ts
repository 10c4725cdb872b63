import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ignored = new Set(['.git', 'node_modules', '.portcullis', '.install.lock', 'coverage', '.figures']);

/** Paths of all files that belong to the checkout, relative to its root, with forward slashes, sorted. */
export function listFiles(root: string, folder = ''): readonly string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    if (ignored.has(entry.name) || entry.name.endsWith('.log')) continue;
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) found.push(...listFiles(root, path));
    else if (entry.isFile()) found.push(path);
  }
  return found.sort();
}
