import { posix } from 'node:path';
import { freeFolders, isInside, moduleOf } from './modules.ts';
import { type BoundaryFinding, type BoundaryRule, importTarget, type SourceFile, type Tree } from './tree.ts';

/**
 * The folder within which imports between two folders keep one direction; undefined for a file whose imports are not
 * counted. The imports of helpers in e2e and hack are counted like those of sources, because tests of several folders
 * share them.
 */
function ownerOf({ path, isTest }: SourceFile): string | undefined {
  const free = freeFolders.find((folder) => isInside(path, folder));
  if (free !== undefined) return path.endsWith('.test.ts') ? undefined : free;
  return isTest ? undefined : moduleOf(path)?.folder;
}

/** Each pair of folders with the same owner of which one folder imports the other, with the first file that does so. */
function folderImports(tree: Tree): ReadonlyMap<string, { from: string; to: string; path: string }> {
  const edges = new Map<string, { from: string; to: string; path: string }>();
  for (const source of tree.sources.values()) {
    const owner = ownerOf(source);
    if (owner === undefined) continue;
    for (const found of source.imports) {
      const target = importTarget(source.path, found.specifier);
      if (target.kind !== 'file' || found.asUrl || !isInside(target.path, owner)) continue;
      const [from, to] = [posix.dirname(source.path), posix.dirname(target.path)];
      if (from !== to && !edges.has(`${from} ${to}`)) edges.set(`${from} ${to}`, { from, to, path: source.path });
    }
  }
  return edges;
}

const oneWay: BoundaryRule = {
  name: 'two folders of a module, of e2e or of hack never import each other',
  check: (tree) => {
    const edges = folderImports(tree);
    return [...edges.values()].flatMap(({ from, to, path }): readonly BoundaryFinding[] => {
      const back = edges.get(`${to} ${from}`);
      if (back === undefined || from > to) return [];
      return [{ path, message: `imports from ${to}, and ${back.path} imports from ${from}: keep one direction` }];
    });
  },
};

/** Files whose exports are found by the name of their folder or read by a tool. */
const loadedByName: readonly { readonly files: RegExp; readonly name: string }[] = [
  { files: /^e2e\/figures\/[^/]+\.ts$/, name: 'figure' },
  { files: /^hack\/generate\/[^/]+\.ts$/, name: 'generate' },
  { files: /^(e2e\/kube\/end-shared-api-server|libraries\/sql\/testing\/share-server)\.ts$/, name: 'teardown' },
  { files: /^libraries\/sql\/testing\/share-server\.ts$/, name: 'setup' },
  { files: /^[^/]+\.config\.ts$/, name: 'default' },
];

/** Names that files of one kind export by convention, because a tool or a person expects them there. */
const conventions: ReadonlySet<string> = new Set([
  'default',
  'figure',
  'generate',
  'readConfig',
  'settings',
  'teardown',
]);

/** Marks a name as imported from a file, and from the files that it re-exports. */
function markImported(tree: Tree, path: string, name: string, imported: Map<string, Set<string>>): void {
  const names = imported.get(path) ?? new Set();
  if (names.has(name)) return;
  imported.set(path, names.add(name));
  for (const found of tree.sources.get(path)?.imports ?? []) {
    const target = importTarget(path, found.specifier);
    if (found.passedOn && target.kind === 'file') markImported(tree, target.path, name, imported);
  }
}

/** The names that files import, by the file that exports them. */
function importedNames(tree: Tree, importers: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const imported = new Map<string, Set<string>>();
  for (const source of importers) {
    for (const found of source.imports) {
      const target = importTarget(source.path, found.specifier);
      if (found.asUrl || found.passedOn || target.kind !== 'file') continue;
      for (const name of found.names) markImported(tree, target.path, name, imported);
    }
  }
  return imported;
}

const usedExports: BoundaryRule = {
  name: 'every exported name is imported somewhere',
  check: (tree) => {
    const imported = importedNames(tree, [...tree.sources.values()]);
    return [...tree.sources.values()].flatMap(({ path, exports }) =>
      exports
        .filter(({ name }) => imported.get(path)?.has('*') !== true && imported.get(path)?.has(name) !== true)
        .filter(({ name }) => !isLoadedByName(path, name))
        .map(({ name, line }) => ({ path, message: `line ${line}: no file imports ${name}: remove it or its export` })),
    );
  },
};

function isLoadedByName(path: string, name: string): boolean {
  return loadedByName.some((loaded) => loaded.files.test(path) && loaded.name === name);
}

/** Whether a file uses a name that it exports in addition to declaring it. */
function usesItself({ code }: SourceFile, name: string): boolean {
  return [...code.matchAll(new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`, 'g'))].length > 1;
}

const usedInProduction: BoundaryRule = {
  name: 'what a source exports is used by more than tests',
  check: (tree) => {
    // The folder hack/ contains tools that tests use.
    const sources = [...tree.sources.values()].filter(({ path, isTest }) => !isTest && !isInside(path, 'hack'));
    const importers = [...tree.sources.values()].filter(({ isTest }) => !isTest);
    const imported = importedNames(tree, importers);
    return sources.flatMap((source) => {
      const { path, exports } = source;
      const taken = imported.get(path);
      return exports
        .filter(({ name }) => taken?.has('*') !== true && taken?.has(name) !== true && !usesItself(source, name))
        .filter(({ name }) => !isLoadedByName(path, name) && !conventions.has(name))
        .map(({ name, line }) => ({
          path,
          message: `line ${line}: only tests use ${name}: remove it, or move it to a testing folder`,
        }));
    });
  },
};

const oneMeaning: BoundaryRule = {
  name: 'no name is exported by two files',
  check: (tree) => {
    const owners = new Map<string, string>();
    const findings: BoundaryFinding[] = [];
    for (const { path, exports, imports } of tree.sources.values()) {
      const passedOn = new Set(imports.filter((one) => one.isReexport).flatMap(({ names }) => names));
      for (const name of new Set(exports.map((one) => one.name))) {
        if (conventions.has(name) || passedOn.has(name)) continue;
        const owner = owners.get(name);
        if (owner !== undefined) findings.push({ path, message: `${owner} exports ${name}, too: name what differs` });
        owners.set(name, path);
      }
    }
    return findings;
  },
};

export const folderRules: readonly BoundaryRule[] = [oneWay, usedExports, usedInProduction, oneMeaning];
