import { freeFolders, isInside, moduleOf, modules, proofFolder } from './modules.ts';
import { type BoundaryFinding, type BoundaryRule, importTarget, type SourceFile, type Tree } from './tree.ts';

function eachImport(
  tree: Tree,
  visit: (source: SourceFile, target: ReturnType<typeof importTarget>, at: string) => BoundaryFinding[],
) {
  return [...tree.sources.values()].flatMap((source) =>
    source.imports
      .filter((found) => !found.asUrl)
      .flatMap((found) =>
        visit(source, importTarget(source.path, found.specifier), `line ${found.line}: '${found.specifier}'`),
      ),
  );
}

/** A relative import has a file extension, and an alias has none; both must resolve to a file. */
const resolution: BoundaryRule = {
  name: 'every relative or aliased import leads to a file',
  check: (tree) => {
    const known = (path: string): boolean => tree.texts.has(path);
    return eachImport(tree, (source, target, at) => {
      if (target.kind !== 'file' || known(target.path)) return [];
      return [
        { path: source.path, message: `${at} leads to no file: write relative imports with .ts, aliases without` },
      ];
    });
  },
};

/** Libraries import the modules that modules.ts lists, services import libraries, and no module imports a service. */
const direction: BoundaryRule = {
  name: 'a module imports only the modules that it may know',
  check: (tree) =>
    eachImport(tree, (source, target, at) => {
      if (target.kind !== 'file') return [];
      if (freeFolders.some((folder) => isInside(source.path, folder))) return [];
      const own = moduleOf(source.path);
      if (own === undefined) return [];
      if (isInside(target.path, own.folder)) return [];
      if (own.uses.some((folder) => isInside(target.path, folder))) return [];
      if (source.isTest && isInside(target.path, proofFolder)) return [];
      const allowed = own.uses.length === 0 ? 'no other module' : own.uses.join(', ');
      return [{ path: source.path, message: `${at} is outside of what ${own.folder} may import (${allowed})` }];
    }),
};

/** A folder of sources that no module claims would escape every other rule. */
const membership: BoundaryRule = {
  name: 'every source file belongs to a module of ARCHITECTURE.md',
  check: (tree) =>
    [...tree.sources.keys()]
      .filter((path) => path.includes('/') && moduleOf(path) === undefined)
      .filter((path) => !freeFolders.some((folder) => isInside(path, folder)))
      .map((path) => ({ path, message: 'belongs to no module: add its folder to hack/boundaries/modules.ts' })),
};

/** No source imports proof code or tests. */
const proofs: BoundaryRule = {
  name: 'no source imports tests, fakes or test data',
  check: (tree) =>
    eachImport(tree, (source, target, at) => {
      if (source.isTest || freeFolders.some((folder) => isInside(source.path, folder))) return [];
      const hit = target.kind === 'file' && /\.test\.ts$|(^|\/)(testing|testdata|e2e|hack)\//.test(target.path);
      return hit ? [{ path: source.path, message: `${at} is proof code: a source must not need it` }] : [];
    }),
};

/** A bundle is validated in its own process: no file imports its entry point. */
const judgement: BoundaryRule = {
  name: 'runtime/judge.ts runs as a child process and is never imported',
  check: (tree) =>
    [...tree.sources.values()].flatMap((source) =>
      source.imports
        .filter((found) => !found.asUrl && !source.isTest)
        .filter((found) => {
          const target = importTarget(source.path, found.specifier);
          return target.kind === 'file' && target.path === 'runtime/judge.ts';
        })
        .map((found) => ({
          path: source.path,
          message: `line ${found.line}: start runtime/judge.ts as a child process`,
        })),
    ),
};

const controllerOf = (path: string): string | undefined => /^operator\/controllers\/([^/]+)\//.exec(path)?.[1];

/** A decision that two controllers share belongs in a folder next to `controllers/`, for example `acceptance/`. */
const controllers: BoundaryRule = {
  name: 'no controller imports another controller',
  check: (tree) =>
    eachImport(tree, (source, target, at) => {
      const own = controllerOf(source.path);
      if (source.isTest || own === undefined || target.kind !== 'file') return [];
      const other = controllerOf(target.path);
      if (other === undefined || other === own) return [];
      return [{ path: source.path, message: `${at} belongs to the controller ${other}: move it beside controllers/` }];
    }),
};

/** Packages that only the named folder may import, so that each engine and client is used in one place. */
const packageHomes: Readonly<Record<string, readonly string[]>> = {
  re2: ['runtime/rules/pattern'],
  unhomoglyph: ['runtime/rules/fold'],
  '@kubernetes/client-node': ['libraries/kube/client/credentials.ts'],
  pino: [`libraries/kit/log`],
  'prom-client': ['libraries/kit/metrics'],
  commander: ['cli'],
  canonicalize: ['libraries/contracts'],
  postgres: ['libraries/sql'],
  'postgres-array': ['libraries/sql'],
  'd3-scale': ['dataplane/console/pages'],
  'd3-shape': ['dataplane/console/pages'],
  jose: ['libraries/identity', 'examples/sdk-agents'],
  'openid-client': ['dataplane/console/sessions'],
  minio: ['libraries/objects'],
  '@opensearch-project/opensearch': ['libraries/search'],
  '@nats-io/jetstream': ['libraries/queue'],
  '@nats-io/transport-node': ['libraries/queue'],
  'snowball-stemmers': ['libraries/kit/text'],
  'gpt-tokenizer': ['libraries/models'],
  ajv: ['libraries/flow/schemas'],
  re2js: ['libraries/flow/expressions'],
  '@viz-js/viz': ['libraries/flow/drawing'],
  '@openfga/sdk': ['libraries/relations/adapters/openfga'],
};

const homes: BoundaryRule = {
  name: 'an npm package that belongs to one folder is imported only there',
  check: (tree) =>
    eachImport(tree, (source, target, at) => {
      if (source.isTest || isInside(source.path, 'hack') || target.kind !== 'package') return [];
      const home = packageHomes[target.name];
      if (home === undefined || home.some((folder) => isInside(source.path, folder))) return [];
      return [{ path: source.path, message: `${at} belongs into ${home.join(' or ')}` }];
    }),
};

const services = modules.filter((module) => module.kind === 'service').map((module) => module.folder);

/** A wrong entry in the module table itself: a module that may import a service. */
const table: BoundaryRule = {
  name: 'the module table lists no service as a dependency',
  check: () =>
    modules.flatMap((module) =>
      module.uses
        .filter((folder) => services.includes(folder))
        .map((folder) => ({ path: 'hack/boundaries/modules.ts', message: `${module.folder} may not use ${folder}` })),
    ),
};

export const importRules: readonly BoundaryRule[] = [
  resolution,
  direction,
  membership,
  proofs,
  judgement,
  controllers,
  homes,
  table,
];
