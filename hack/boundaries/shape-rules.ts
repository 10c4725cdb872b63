import { posix } from 'node:path';
import { isInside } from './modules.ts';
import type { BoundaryFinding, BoundaryRule, SourceFile, Tree } from './tree.ts';

const forbiddenNames = new Set(['utils', 'util', 'helpers', 'common', 'core', 'shared', 'misc', 'lib', 'manager']);

const names: BoundaryRule = {
  name: 'folders and files are named for their content, in kebab-case',
  check: (tree) =>
    [...tree.sources.keys()].flatMap((path) => {
      const parts = path.split('/');
      const file = parts.at(-1) ?? '';
      const vague = parts.find((part) => forbiddenNames.has(part.replace(/(\.test)?\.ts$/, '')));
      const findings: BoundaryFinding[] = [];
      if (vague !== undefined) findings.push({ path, message: `'${vague}' is too vague: name the concept` });
      if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config))?\.ts$/.test(file)) {
        findings.push({ path, message: 'write file names in kebab-case' });
      }
      return findings;
    }),
};

const mayHaveBarrels = ['libraries/kit', 'libraries/contracts', 'libraries/resources'];

function onlyPassesOn(source: SourceFile): boolean {
  const rest = source.code
    .replace(/\bexport\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})\s*from\s*(['"]).*?\4\s*;?/gs, '')
    .replace(/\bimport\b[^;]*;/g, '')
    .replace(/\bexport\s+(type\s+)?\{[^}]*\}\s*;?/g, '');
  return /\bexport\b/.test(source.code) && rest.trim() === '';
}

const barrels: BoundaryRule = {
  name: 'only kit, contracts and resources have barrel files (index.ts)',
  check: (tree) =>
    [...tree.sources.values()]
      .filter((source) => !mayHaveBarrels.some((folder) => isInside(source.path, folder)))
      .filter((source) => posix.basename(source.path) === 'index.ts' || onlyPassesOn(source))
      .map((source) => ({ path: source.path, message: 'only re-exports other files: import them directly' })),
};

const hardBudget = 400;
const entryBudget = 40;

function linesOf(source: SourceFile): number {
  return source.text.trimEnd().split('\n').length;
}

const budgets: BoundaryRule = {
  name: 'no file exceeds its maximum number of lines',
  check: (tree: Tree) =>
    [...tree.sources.values()].flatMap((source) => {
      const lines = linesOf(source);
      const isEntry = posix.basename(source.path) === 'main.ts';
      if (isEntry && lines > entryBudget) {
        return [{ path: source.path, message: `has ${lines} lines, an entry point at most ${entryBudget}` }];
      }
      if (lines > hardBudget && !source.isTest) {
        return [
          { path: source.path, message: `has ${lines} lines, a file at most ${hardBudget}: split it by concept` },
        ];
      }
      return [];
    }),
};

export const shapeRules: readonly BoundaryRule[] = [names, barrels, budgets];
