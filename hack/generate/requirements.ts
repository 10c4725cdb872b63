import { readTree } from '../boundaries/tree.ts';
import { root } from '../check/run-tool.ts';
import { citationsOf } from '../requirements/citations.ts';
import { requirementRows } from '../requirements/rows.ts';

/** The table of obligations and of the tests that cite them. */
export function generate(): ReadonlyMap<string, string> {
  const files = new Map<string, Set<string>>();
  for (const { id, path } of citationsOf(readTree(root))) {
    if (path.startsWith('e2e/requirements/')) continue;
    files.set(id, (files.get(id) ?? new Set()).add(path));
  }
  const lines = requirementRows(root).map(({ id, section, rule }) => {
    const tests = [...(files.get(id) ?? [])].sort().map((path) => `[${path}](../../${path})`);
    return `| \`${id}\` | ${section} | ${rule.replaceAll('|', '\\|')} | ${tests.join('<br>')} |`;
  });
  const content = [
    '# Obligations and their proofs',
    '',
    'Every obligation of the contract documents, and the files whose tests cite it. `npm run generate` writes this page',
    'from the citations and runs no test: that each obligation has a cited test that ran and passed is what',
    '`npm run test:full` checks.',
    '',
    '| Obligation | Section | Rule | Cited by |',
    '|---|---|---|---|',
    ...lines,
    '',
  ];
  return new Map([['docs/reference/requirements.md', content.join('\n')]]);
}
