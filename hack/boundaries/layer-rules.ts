import { posix } from 'node:path';
import { isInside, moduleOf } from './modules.ts';
import {
  type BoundaryFinding,
  type BoundaryRule,
  type ImportTarget,
  importTarget,
  type SourceFile,
  type Tree,
} from './tree.ts';

/**
 * Folders and files with pure rules and types. They import only Node's data modules, schemas and each other, and no
 * framework, driver, clock, logger, random source or environment.
 */
export const domainFolders: readonly string[] = [
  'libraries/contracts',
  'libraries/resources',
  'runtime/rules',
  'dataplane/gateway/chat',
  'dataplane/gateway/responses',
  'dataplane/gateway/embeddings',
  'dataplane/gateway/rerank',
  'dataplane/gateway/stream',
  'libraries/flow/definition',
  'libraries/flow/expressions',
  'libraries/flow/source',
  'libraries/flow/schemas',
  'libraries/flow/loader',
];
/** A file of this name decides from a snapshot, in any module. */
const decision = /(^|\/)decide(-[a-z-]+)?\.ts$/;
/** Files that make desired objects are pure in every controller. */
const makers = /^operator\/.*\/resources\//;

/** `module` loads a package on its first use. */
const pureNodeModules = new Set(['crypto', 'buffer', 'module', 'path', 'util', 'assert', 'string_decoder']);
const purePackages = new Set(['zod', 'canonicalize', 're2', 're2js', 'ajv', 'yaml', 'unhomoglyph']);
/** Clocks, randomness, timers, network and environment that need no import. */
const impure =
  /\b(Date\.now|new Date\(\)|performance\.now|Math\.random|randomUUID|randomBytes|setTimeout|setInterval|setImmediate|process\.(?!emitWarning)\w+|fetch\(|console\.)/g;

function isDomain(path: string): boolean {
  if (domainFolders.some((folder) => isInside(path, folder))) return true;
  return decision.test(path) || makers.test(path);
}

/** Reasons why a file is not pure, directly or through its run-time imports; one sentence each. */
function impuritiesOf(tree: Tree, path: string, way: readonly string[] = []): readonly string[] {
  const source = tree.sources.get(path);
  if (source === undefined || way.includes(path)) return [];
  const through = way.length === 0 ? '' : ` through ${[...way.slice(1), path].join(' and ')}`;
  const own = [...source.code.matchAll(impure)].map((match) => `uses ${match[0]}${through}: take it as an argument`);
  const imported = source.imports
    .filter((found) => !found.typeOnly && !found.asUrl)
    .flatMap((found) => impuritiesBehind(tree, importTarget(path, found.specifier), [...way, path], through));
  return [...own, ...imported];
}

function impuritiesBehind(
  tree: Tree,
  target: ImportTarget,
  way: readonly string[],
  through: string,
): readonly string[] {
  switch (target.kind) {
    case 'node':
      return pureNodeModules.has(target.name) ? [] : [`imports node:${target.name}${through}`];
    case 'package':
      return purePackages.has(target.name) ? [] : [`imports ${target.name}${through}`];
    case 'file':
      // Each file of the domain layer is reported for its own imports only.
      return isDomain(target.path) ? [] : impuritiesOf(tree, target.path, way);
  }
}

const domain: BoundaryRule = {
  name: 'domain files are free of framework, driver, clock, logger, random and environment',
  check: (tree) =>
    [...tree.sources.values()]
      .filter((source) => isDomain(source.path) && !source.isTest)
      .flatMap((source) =>
        [...new Set(impuritiesOf(tree, source.path))].map((message) => ({ path: source.path, message })),
      ),
};

const layerOf = (path: string): string | undefined => {
  const name = posix.basename(path);
  if (name === 'main.ts') return 'main';
  if (name === 'ports.ts') return 'ports';
  if (/(^|\/)adapters\//.test(path)) return 'adapters';
  if (/(^|\/)http\//.test(path)) return 'http';
  if (isDomain(path)) return 'domain';
  return undefined;
};

/** For each layer of a service, the layers of the same service that it must not import. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  http: ['adapters', 'main'],
  adapters: ['http', 'main'],
  ports: ['adapters', 'http', 'main'],
  domain: ['adapters', 'http', 'main'],
};

function layerFindings(tree: Tree, source: SourceFile): readonly BoundaryFinding[] {
  const layer = layerOf(source.path);
  const own = moduleOf(source.path);
  if (layer === undefined || own === undefined || own.kind !== 'service' || source.isTest) return [];
  return source.imports.flatMap((found) => {
    const target = importTarget(source.path, found.specifier);
    if (target.kind !== 'file' || !isInside(target.path, own.folder) || !tree.sources.has(target.path)) return [];
    const other = layerOf(target.path);
    if (other === undefined || !forbidden[layer]?.includes(other)) return [];
    return [{ path: source.path, message: `line ${found.line}: ${layer} does not import ${other} (${target.path})` }];
  });
}

const layers: BoundaryRule = {
  name: 'inside a service, outer layers import the domain and never the reverse',
  check: (tree) => [...tree.sources.values()].flatMap((source) => layerFindings(tree, source)),
};

/** An adapter implements one port and does not import other adapters. */
const siblings: BoundaryRule = {
  name: 'an adapter does not import another adapter',
  check: (tree) =>
    [...tree.sources.values()].flatMap((source) => {
      const home = /^(.*\/adapters\/[^/]+)\//.exec(source.path)?.[1];
      if (home === undefined || source.isTest) return [];
      return source.imports.flatMap((found) => {
        const target = importTarget(source.path, found.specifier);
        if (target.kind !== 'file' || !/\/adapters\//.test(target.path) || isInside(target.path, home)) return [];
        return [{ path: source.path, message: `line ${found.line}: ${target.path} is another adapter` }];
      });
    }),
};

/** Entry points start and stop a service: they import only its configuration, its composition root and the kit. */
const entries: BoundaryRule = {
  name: 'main.ts imports configuration, composition root and kit only',
  check: (tree) =>
    [...tree.sources.values()]
      .filter((source) => posix.basename(source.path) === 'main.ts' && moduleOf(source.path)?.kind === 'service')
      .filter((source) => !isInside(source.path, 'cli'))
      .flatMap((source) =>
        source.imports.flatMap((found) => {
          const target = importTarget(source.path, found.specifier);
          const beside = target.kind === 'file' && posix.dirname(target.path) === posix.dirname(source.path);
          if (target.kind === 'node' || beside) return [];
          if (target.kind === 'file' && isInside(target.path, 'libraries/kit')) return [];
          return [{ path: source.path, message: `line ${found.line}: '${found.specifier}' belongs into service.ts` }];
        }),
      ),
};

export const layerRules: readonly BoundaryRule[] = [domain, layers, siblings, entries];
