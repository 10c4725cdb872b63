import { posix } from 'node:path';
import { lineOf } from './scan-source.ts';
import { type BoundaryRule, isProof } from './tree.ts';

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

/** A row of the table of processes with the file that starts the process. */
const processRow = /^\| [^|]+ \| `([^`]+\/main\.ts)` \|/gm;

const processTable: BoundaryRule = {
  name: 'ARCHITECTURE.md lists every process',
  check: ({ texts, sources }) => {
    const listed = new Set([...(texts.get('ARCHITECTURE.md') ?? '').matchAll(processRow)].map((match) => match[1]));
    return [...sources.keys()]
      .filter((path) => posix.basename(path) === 'main.ts' && !path.startsWith('hack/') && !isProof(path))
      .filter((path) => !listed.has(path))
      .map((path) => ({ path: 'ARCHITECTURE.md', message: `the table of processes has no row for ${path}: add one` }));
  },
};

/** A page of docs/design with a heading: `docs/design/gates.md, "Readiness"`, the quotes are optional. */
const citedHeading = /\bdocs\/design\/([a-z-]+\.md)`?,[\s*/]*(?:"([^"]+)"|([A-Z][^)."`;,:]*))/g;

/** Headings of a page, and the bold words that open a paragraph. */
function headingsOf(page: string): ReadonlySet<string> {
  return new Set(
    [...page.matchAll(/^(?:#+ (.+)|\*\*([^*]+?)\.?\*\*.*)$/gm)].map((match) => match[1] ?? match[2] ?? ''),
  );
}

const designHeadings: BoundaryRule = {
  name: 'every cited heading of docs/design exists',
  check: ({ texts }) =>
    [...texts]
      .filter(([path]) => !path.startsWith('hack/boundaries'))
      .flatMap(([path, text]) =>
        [...text.matchAll(citedHeading)].flatMap(({ 1: page = '', 2: quoted, 3: plain, index }) => {
          const heading = (quoted ?? plain ?? '').replace(/\s+(?:\*\s+|\/\/\s+)?/g, ' ').trim();
          if (headingsOf(texts.get(`docs/design/${page}`) ?? '').has(heading)) return [];
          return [{ path, message: `line ${lineOf(text, index)}: docs/design/${page} has no heading "${heading}"` }];
        }),
      ),
};

export const pageRules: readonly BoundaryRule[] = [architecturePaths, processTable, designHeadings];
