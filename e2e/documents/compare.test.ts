import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../hack/check/run-tool.ts';

const page = readFileSync(join(root, 'docs/compare.md'), 'utf8');
const own = 'Portcullis';

/** The rows of the table of a section, below its heading and its rule, by cell. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const section = page.split(/^##? /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(1).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

/** Whether a cell has a source that everybody can open: a page or file of the other product. */
const isRead = (cell: string): boolean => /\]\(https:\/\/[^)]+\)[^)]*\*read\*\)/.test(cell);
const testsOf = (cell: string): readonly string[] =>
  [...cell.matchAll(/\[test\]\((\.\.\/[^)]+\.test\.ts)\)/g)].map(([, path = '']) => path);

/** Whether the files of a cell exist and contain a test. */
function isProved(cell: string): boolean {
  const found = testsOf(cell);
  const hasTest = (path: string): boolean =>
    /\b(test|verifies)(\.\w+)?\(/.test(readFileSync(resolve(root, 'docs', path), 'utf8'));
  return found.length > 0 && found.every(hasTest);
}

describe('the comparison with other guardrails', () => {
  const rows = rowsOf('Compare with other guardrails');
  const names = rows.map(([name = '']) => /^\[?([^\]]+)/.exec(name)?.[1]);

  test('the comparison page covers the other products of the field and Portcullis', () => {
    expect(names).toEqual([own, 'LLM Guard', 'NeMo Guardrails', 'agentgateway', 'Bedrock Guardrails']);
  });

  test('each statement about another product names a source, and each one about Portcullis a test', () => {
    for (const [name = '', ...statements] of rows) {
      expect(statements, name).toHaveLength(4);
      const isChecked = name === own ? isProved : isRead;
      expect(
        statements.filter((cell) => !isChecked(cell)),
        name,
      ).toEqual([]);
    }
  });

  test('each rule that was taken from another product names its source and a test of this repository', () => {
    const moves = rowsOf('Move your rules');
    expect(moves.length).toBeGreaterThanOrEqual(10);
    expect(moves.filter(([from = '']) => !isRead(from))).toEqual([]);
    expect(moves.filter(([, to = '']) => !isProved(to))).toEqual([]);
  });

  test('no statement of the comparison is unverified or left to the reader', () => {
    expect(page).not.toMatch(/not verified|see its documentation/i);
  });
});
