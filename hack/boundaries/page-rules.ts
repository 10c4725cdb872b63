import type { BoundaryRule } from './tree.ts';

/** A path of at least two segments in backticks, such as `operator/main.ts` or `libraries/kit/`. */
const quotedPath = /`((?:[\w.-]+\/)+[\w.-]*)`/g;

/** Paths that ARCHITECTURE.md names relative to the folder of their paragraph are not checked. */
const roots = [
  'charts',
  'cli',
  'crds',
  'dataplane',
  'docs',
  'e2e',
  'examples',
  'hack',
  'libraries',
  'operator',
  'runtime',
];

const architecturePaths: BoundaryRule = {
  name: 'every path in ARCHITECTURE.md exists',
  check: (tree) => {
    const text = tree.texts.get('ARCHITECTURE.md') ?? '';
    const files = [...tree.texts.keys()];
    return [...text.matchAll(quotedPath)]
      .map((match) => match[1] ?? '')
      .filter((path) => roots.includes(path.split('/')[0] ?? ''))
      .filter((path) => !files.some((file) => file === path || file.startsWith(path.endsWith('/') ? path : `${path}/`)))
      .map((path) => ({ path: 'ARCHITECTURE.md', message: `${path} does not exist: correct or remove the path` }));
  },
};

export const pageRules: readonly BoundaryRule[] = [architecturePaths];
