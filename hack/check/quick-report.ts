import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tree } from '../boundaries/tree.ts';

/** The report of the quick check for the full check: the obligations that it proved, and a digest of the files. */
type QuickReport = { readonly files: string; readonly proved: readonly string[] };

function reportFile(root: string): string {
  return join(root, 'node_modules/.cache/portcullis/quick-check.json');
}

/** SHA-256 over the paths and texts of a checkout. */
function digestOfFiles({ texts }: Tree): string {
  const hash = createHash('sha256');
  for (const [path, text] of texts) hash.update(`${path}\0${text}\0`);
  return hash.digest('hex');
}

/** The report is written only after a complete quick check without failures. */
export function writeQuickReport(root: string, tree: Tree, proved: readonly string[]): void {
  const file = reportFile(root);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ files: digestOfFiles(tree), proved } satisfies QuickReport));
}

/** Ids that the quick check proved for exactly these files; undefined if it has not passed for them. */
export function readQuickReport(root: string, tree: Tree): readonly string[] | undefined {
  try {
    const report = JSON.parse(readFileSync(reportFile(root), 'utf8')) as QuickReport;
    return report.files === digestOfFiles(tree) ? report.proved : undefined;
  } catch {
    return undefined;
  }
}
