import { posix } from 'node:path';
import { lineOf } from './scan-source.ts';
import { type BoundaryRule, isProof, type Tree } from './tree.ts';

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

/** Folders of support for tests, which their port or their tests explain. */
const unlistedFolder = /(?:^|\/)(?:testing|testdata)(?:\/|$)/;

const sourceFile = /\.(?:ts|mjs|js|py|go|sql|c)$/;

/** Every folder that contains sources; of e2e its folders of the first level, because they represent their content. */
function foldersWithSources({ texts }: Tree): readonly string[] {
  const folders = [...texts.keys()]
    .filter((path) => sourceFile.test(path) && !path.endsWith('.test.ts'))
    .map((path) => posix.dirname(path))
    .map((folder) => (folder.startsWith('e2e/') ? folder.split('/').slice(0, 2).join('/') : folder))
    .filter((folder) => folder !== '.' && folder !== 'e2e' && !unlistedFolder.test(folder));
  return [...new Set(folders)].sort();
}

/** The folder in backticks that ends a heading: paths of the tables below are relative to it. */
const headingFolder = /^#+ .*`([^`]+\/)`$/;

const quotedFolder = /`((?:[\w.-]+\/)+)`/g;

function foldersIn(cell: string, base: string): readonly string[] {
  return [...cell.matchAll(quotedFolder)].map(({ 1: path = '' }) =>
    (roots.includes(path.split('/')[0] ?? '') ? path : posix.join(base, path)).replace(/\/$/, ''),
  );
}

/**
 * The folders that ARCHITECTURE.md names in its headings and tables. The first cell of a row is relative to the folder of
 * the heading, the other cells to the first folder of the row; a path that begins with a folder of the root is complete.
 */
function namedFolders(page: string): ReadonlySet<string> {
  const named = new Set<string>();
  let base = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) {
      base = headingFolder.exec(line)?.[1] ?? '';
      named.add(base.replace(/\/$/, ''));
    }
    if (!line.startsWith('| ')) continue;
    const [first = '', ...others] = line.split(' | ');
    const inFirst = foldersIn(first, base);
    for (const folder of [...inFirst, ...foldersIn(others.join(' '), inFirst[0] ?? base)]) named.add(folder);
  }
  return named;
}

const folderTable: BoundaryRule = {
  name: 'ARCHITECTURE.md names every folder with sources, and no other',
  check: (tree) => {
    const named = namedFolders(tree.texts.get('ARCHITECTURE.md') ?? '');
    const files = [...tree.texts.keys()];
    const absent = [...named].filter((folder) => folder !== '' && !files.some((file) => file.startsWith(`${folder}/`)));
    return [
      ...foldersWithSources(tree)
        .filter((folder) => !named.has(folder))
        .map((folder) => ({
          path: 'ARCHITECTURE.md',
          message: `no table names ${folder}/: add a row that says what it holds`,
        })),
      ...absent.map((folder) => ({
        path: 'ARCHITECTURE.md',
        message: `${folder}/ does not exist: correct or remove its name`,
      })),
    ];
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

export const pageRules: readonly BoundaryRule[] = [architecturePaths, processTable, folderTable, designHeadings];
