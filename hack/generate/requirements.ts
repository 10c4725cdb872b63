import { readTree } from '../boundaries/tree.ts';
import { root } from '../check/run-tool.ts';
import { citationsOf } from '../requirements/citations.ts';
import { requirementRows } from '../requirements/rows.ts';

/** The table of obligations and of the tests that prove them. */
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
    'Every obligation of the contract documents, and the tests that prove it. Written by `npm run generate`.',
    '',
    '| Obligation | Section | Rule | Proved by |',
    '|---|---|---|---|',
    ...lines,
    '',
  ];
  return new Map([['docs/reference/requirements.md', content.join('\n')]]);
}
