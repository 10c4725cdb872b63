import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { listFiles } from './list-files.ts';
import { type Scan, scanSource } from './scan-source.ts';

/** A TypeScript file of the tree. */
export type SourceFile = Scan & {
  readonly path: string;
  readonly text: string;
  readonly isTest: boolean;
};

/** The files of a checkout as the rules see them; text files only. */
export type Tree = {
  readonly texts: ReadonlyMap<string, string>;
  readonly sources: ReadonlyMap<string, SourceFile>;
};

/** A violation of a boundary rule: a message that names the file and the remedy. */
export type BoundaryFinding = { readonly path: string; readonly message: string };

export type BoundaryRule = { readonly name: string; readonly check: (tree: Tree) => readonly BoundaryFinding[] };

/** Code that only tests other code: tests, test suites of ports, fakes, test data. */
export function isProof(path: string): boolean {
  return path.endsWith('.test.ts') || /(^|\/)(testing|testdata)\//.test(path) || path.startsWith('e2e/');
}

export function treeOf(files: Readonly<Record<string, string>>): Tree {
  const texts = new Map(Object.entries(files));
  const sources = new Map<string, SourceFile>();
  for (const [path, text] of texts) {
    if (!path.endsWith('.ts')) continue;
    sources.set(path, { ...scanSource(text), path, text, isTest: isProof(path) });
  }
  return { texts, sources };
}

const binary = /\.(png|gif|ico|node|gz|woff2?)$/;

export function readTree(root: string): Tree {
  const paths = listFiles(root).filter((path) => !binary.test(path));
  return treeOf(Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')])));
}

const aliases: Readonly<Record<string, string>> = {
  '#audit/': 'libraries/audit/',
  '#environment/': 'libraries/environment/',
  '#kit/': 'libraries/kit/',
  '#contracts/': 'libraries/contracts/',
  '#kube/': 'libraries/kube/',
  '#checks/': 'libraries/checks/',
  '#providers/': 'libraries/providers/',
  '#resources/': 'libraries/resources/',
  '#sql/': 'libraries/sql/',
  '#identity/': 'libraries/identity/',
  '#relations/': 'libraries/relations/',
  '#api/': 'libraries/api/',
  '#search/': 'libraries/search/',
  '#diagnosis/': 'libraries/diagnosis/',
  '#mcp/': 'libraries/mcp/',
  '#flow/': 'libraries/flow/',
  '#queue/': 'libraries/queue/',
  '#objects/': 'libraries/objects/',
  '#models/': 'libraries/models/',
};

export type ImportTarget =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'node'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string };

/** Target of an import: a file of the tree, a module of Node, or a package. */
export function importTarget(from: string, specifier: string): ImportTarget {
  if (specifier.startsWith('.')) {
    return { kind: 'file', path: posix.normalize(posix.join(posix.dirname(from), specifier)) };
  }
  for (const [alias, folder] of Object.entries(aliases)) {
    if (specifier.startsWith(alias)) return { kind: 'file', path: `${folder}${specifier.slice(alias.length)}.ts` };
  }
  if (specifier.startsWith('node:')) return { kind: 'node', name: specifier.slice('node:'.length) };
  const [scopeOrName = '', name = ''] = specifier.split('/');
  return { kind: 'package', name: scopeOrName.startsWith('@') ? `${scopeOrName}/${name}` : scopeOrName };
}
