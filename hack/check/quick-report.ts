import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Tree } from '../boundaries/tree.ts';

/** The report of a complete quick check: a digest of the files, the obligations that it proved, and its failed tests. */
type QuickReport = { readonly files: string; readonly proved: readonly string[]; readonly failed: number };

function reportFile(root: string): string {
  return join(root, 'node_modules/.cache/portcullis/quick-check.json');
}

/** SHA-256 over the paths and texts of a checkout. */
function digestOfFiles({ texts }: Tree): string {
  const hash = createHash('sha256');
  for (const [path, text] of texts) hash.update(`${path}\0${text}\0`);
  return hash.digest('hex');
}

/** The report is written after a complete quick check. */
export function writeQuickReport(root: string, tree: Tree, result: Pick<QuickReport, 'proved' | 'failed'>): void {
  const file = reportFile(root);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ files: digestOfFiles(tree), ...result } satisfies QuickReport));
}

/** The report of the quick check of exactly these files; undefined if it has not run for them. */
export function readQuickReport(root: string, tree: Tree): QuickReport | undefined {
  try {
    const report = JSON.parse(readFileSync(reportFile(root), 'utf8')) as QuickReport;
    return report.files === digestOfFiles(tree) ? report : undefined;
  } catch {
    return undefined;
  }
}
