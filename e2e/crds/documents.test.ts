import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import { userRoles } from '#resources/user-roles';
import { root } from '../../hack/check/run-tool.ts';

const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Cells of every row of the tables of a page. */
function rowsOf(path: string): readonly (readonly string[])[] {
  const lines = textOf(path)
    .split('\n')
    .filter((line) => line.startsWith('| '));
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

describe('the page about API conventions', () => {
  const rows = rowsOf('docs/api-conventions.md').filter(([number]) => /^\d+$/.test(number ?? ''));
  const judged = textOf('hack/crds/api-conventions.test.ts');

  test('the page about API conventions has forty rows for ten kinds', () => {
    expect(rows.map(([number]) => Number(number))).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    for (const row of rows) {
      expect(row).toHaveLength(13);
      expect(row.slice(2, 12).filter((cell) => !['Y', 'D', '-'].includes(cell))).toEqual([]);
    }
  });

  test.each(rows)('row %s of the API conventions names its proof and explains each deviation', (...row) => {
    const [number, , ...rest] = row;
    const [proof = ''] = rest.slice(10);
    const files = [...proof.matchAll(/`([\w./-]+\.(?:ts|yaml))`/g)].map((match) => match[1] ?? '');
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
    if (files.includes('hack/crds/api-conventions.test.ts'))
      expect(judged).toContain(`'row ${number} of the API conventions: `);
    if (rest.slice(0, 10).includes('D')) expect(proof.length).toBeGreaterThan(60);
  });

  test('the API conventions have a row for every convention that a test checks', () => {
    const numbers = [...judged.matchAll(/'row (\d+) of the API conventions: /g)].map((match) => Number(match[1]));
    const wanted = [2, 4, 5, 6, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 35];
    expect([...new Set(numbers)].sort((a, b) => a - b)).toEqual(wanted);
  });
});

describe('the page about resources in a cluster', () => {
  const text = textOf('docs/custom-resources.md');

  test('the page about resources lists every optional field', () => {
    for (const { kind, shortNames } of Object.values(kinds))
      expect(text).toContain(`| ${kind} | \`${shortNames[0]}\` |`);
    for (const { name } of userRoles) expect(text).toContain(`| \`${name}\` |`);
  });

  test('the page about resources lists every optional field', () => {
    const judged = textOf('hack/crds/api-conventions.test.ts');
    const listed = [...judged.matchAll(/^ {2}(?:guardrailPolicy|modelBinding): \[([^\]]*)\],/gm)];
    const fields = listed.flatMap(([, names = '']) =>
      [...names.matchAll(/'spec\.([^']+)'/g)].map(([, path = '']) => path),
    );
    expect(fields.length).toBeGreaterThanOrEqual(10);
    for (const field of fields) expect(text).toContain(`\`${field}\` |`);
  });
});
