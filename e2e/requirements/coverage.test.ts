import { describe, expect, test } from 'vitest';
import { readTree, treeOf } from '../../hack/boundaries/tree.ts';
import { root } from '../../hack/check/run-tool.ts';
import { citationsOf } from '../../hack/requirements/citations.ts';
import { parseRows, requirementRows } from '../../hack/requirements/rows.ts';

const rows = requirementRows(root);
const citations = citationsOf(readTree(root)).filter((citation) => !citation.path.startsWith('e2e/requirements/'));

describe('coverage of obligations', () => {
  test('every obligation is cited by a test', () => {
    const cited = new Set(citations.map((citation) => citation.id));
    expect(rows.filter((row) => !cited.has(row.id)).map((row) => row.id)).toEqual([]);
  });

  test('every cited obligation exists', () => {
    const known = new Set(rows.map((row) => row.id));
    const unknown = citations.filter((citation) => !known.has(citation.id));
    expect(unknown.map((citation) => `${citation.path}:${citation.line} ${citation.id}`)).toEqual([]);
  });
});

describe('parsing of obligations', () => {
  const header = 'id\tsection\trule';

  test('the table of obligations is parsed, and a malformed or repeated row is refused', () => {
    expect(parseRows(`${header}\na:b:c\t1\tA rule.\n`)).toEqual([{ id: 'a:b:c', section: '1', rule: 'A rule.' }]);
    expect(() => parseRows('id\trule\n')).toThrow('first line');
    expect(() => parseRows(`${header}\na:b:c\t1\n`)).toThrow('three columns');
    expect(() => parseRows(`${header}\na:b:c\t1\tOne.\na:b:c\t1\tTwo.\n`)).toThrow('occurs twice');
  });

  test('obligation ids are read from the calls and tables of a test, not from comments, sources or other tests', () => {
    const citing = "verifies(['a:b:c', 'a:b-c:d'], 'title', () => {});\n// 'a:b:comment'\n";
    const tree = treeOf({
      'runtime/a.test.ts': citing,
      'runtime/b.test.ts': "test('a:b:title', () => {});",
      'runtime/c.ts': citing.replaceAll('a:b', 'a:source'),
    });
    expect(citationsOf(tree)).toEqual([
      { id: 'a:b:c', path: 'runtime/a.test.ts', line: 1 },
      { id: 'a:b-c:d', path: 'runtime/a.test.ts', line: 1 },
    ]);
  });
});
