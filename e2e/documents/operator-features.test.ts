import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../hack/check/run-tool.ts';

const page = readFileSync(join(root, 'docs/operator-features.md'), 'utf8');

/** Cells of every row of the table; no cell holds a bar. */
const rows = page
  .split('\n')
  .filter((line) => /^\| \d+ \|/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

type Proof = { readonly file: string; readonly titles: readonly string[] };

/** Files of a cell, each with the test titles that follow it. */
function proofsOf(cell: string): readonly Proof[] {
  return [...cell.matchAll(/`([\w./-]+\.ts)`((?:,? "[^"]+")*)/g)].map(([, file = '', titles = '']) => ({
    file,
    titles: [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  }));
}

/** Whether the source of a test contains its title as a literal; the title of a figure is followed by its bounds. */
function holds({ file }: Proof, title: string): boolean {
  const text = readFileSync(join(root, file), 'utf8');
  if (file.startsWith('e2e/figures/')) return text.includes(`'${title}`) || text.includes(`\`${title}`);
  return text.includes(`'${title}',`);
}

describe('the page about features of the operator', () => {
  test('the page about operator features has fifty rows, at least forty with a proof', () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    for (const row of rows) expect(row).toHaveLength(4);
    expect(rows.filter(([, , here]) => !['Y', 'D', '-', 'N'].includes(here ?? ''))).toEqual([]);
    expect(rows.filter(([, , here]) => here === 'Y').length).toBeGreaterThanOrEqual(40);
  });

  test.each(rows)(
    'row %s of the table of operator features, %s, cites existing tests or states why there is none',
    (...row) => {
      const [, , here, cell = ''] = row;
      const proofs = proofsOf(cell);
      expect(proofs.filter(({ file }) => !existsSync(join(root, file)))).toEqual([]);
      const missing = proofs.flatMap((proof) =>
        proof.titles.filter((title) => !holds(proof, title)).map((title) => `${proof.file}: ${title}`),
      );
      expect(missing).toEqual([]);
      // Quoted text that does not follow a file name is not compared.
      expect(proofs.flatMap(({ titles }) => titles)).toHaveLength([...cell.matchAll(/"[^"]+"/g)].length);
      if (here === 'Y') expect(proofs.flatMap(({ titles }) => titles).length).toBeGreaterThan(0);
      else expect(cell.length).toBeGreaterThan(80);
    },
  );

  test('the check of cited test titles detects a title that no test has', () => {
    const file = 'operator/http/admin.test.ts';
    expect(holds({ file, titles: [] }, 'life and readiness fail apart from each other')).toBe(false);
  });
});
