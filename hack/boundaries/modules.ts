/** A module of the checkout: a folder, and the modules whose files it may import. */
type Module = {
  readonly folder: string;
  readonly kind: 'library' | 'service';
  readonly uses: readonly string[];
};

const kit = 'libraries/kit';
const contracts = 'libraries/contracts';
const kube = 'libraries/kube';
const resources = 'libraries/resources';
const checks = 'libraries/checks';
const providers = 'libraries/providers';
const sql = 'libraries/sql';
const identity = 'libraries/identity';
const relations = 'libraries/relations';
const api = 'libraries/api';
const search = 'libraries/search';
const queue = 'libraries/queue';
const objects = 'libraries/objects';
const models = 'libraries/models';
const environment = 'libraries/environment';
const mcp = 'libraries/mcp';
const flow = 'libraries/flow';
const diagnosis = 'libraries/diagnosis';
const audit = 'libraries/audit';

/**
 * Every module and the modules that it may import. Services communicate over HTTP only, so no module names a service. `e2e` and `hack` prove and generate, and may import everything.
 */
export const modules: readonly Module[] = [
  { folder: kit, kind: 'library', uses: [] },
  { folder: contracts, kind: 'library', uses: [] },
  { folder: resources, kind: 'library', uses: [contracts] },
  { folder: kube, kind: 'library', uses: [kit, contracts, resources] },
  { folder: environment, kind: 'library', uses: [kit, contracts] },
  { folder: checks, kind: 'library', uses: [kit, contracts, environment] },
  { folder: providers, kind: 'library', uses: [kit, contracts] },
  { folder: sql, kind: 'library', uses: [kit] },
  { folder: identity, kind: 'library', uses: [kit, contracts, environment, api] },
  { folder: relations, kind: 'library', uses: [kit, contracts, sql] },
  { folder: api, kind: 'library', uses: [kit, contracts] },
  { folder: search, kind: 'library', uses: [kit, sql] },
  { folder: queue, kind: 'library', uses: [kit, sql] },
  { folder: objects, kind: 'library', uses: [kit] },
  { folder: models, kind: 'library', uses: [kit, contracts, environment] },
  { folder: mcp, kind: 'library', uses: [] },
  { folder: flow, kind: 'library', uses: [kit, contracts] },
  { folder: diagnosis, kind: 'library', uses: [kit, contracts, resources, kube] },
  { folder: audit, kind: 'library', uses: [kit, contracts, sql] },
  { folder: 'runtime', kind: 'service', uses: [kit, contracts] },
  {
    folder: 'dataplane/gateway',
    kind: 'service',
    uses: [kit, contracts, environment, resources, kube, checks, providers, sql, identity, relations, mcp],
  },
  { folder: 'dataplane/echo', kind: 'service', uses: [kit, contracts] },
  { folder: 'dataplane/postgres', kind: 'service', uses: [kit, sql] },
  { folder: 'dataplane/issuer', kind: 'service', uses: [kit, contracts, identity] },
  {
    folder: 'dataplane/retrieval',
    kind: 'service',
    uses: [
      kit,
      contracts,
      environment,
      checks,
      sql,
      identity,
      relations,
      api,
      search,
      queue,
      objects,
      models,
      mcp,
      audit,
    ],
  },
  {
    folder: 'dataplane/memory',
    kind: 'service',
    uses: [kit, contracts, environment, checks, sql, identity, api, search, queue, models, mcp, audit],
  },
  {
    folder: 'dataplane/catalogue',
    kind: 'service',
    uses: [
      kit,
      contracts,
      resources,
      kube,
      environment,
      checks,
      sql,
      identity,
      relations,
      api,
      search,
      queue,
      models,
      flow,
    ],
  },
  { folder: 'dataplane/agents', kind: 'service', uses: [kit, contracts, environment, checks, identity, mcp, flow] },
  {
    folder: 'operator',
    kind: 'service',
    uses: [kit, contracts, environment, resources, kube, checks, sql, identity, relations, api, flow, diagnosis, audit],
  },
  { folder: 'dataplane/signin', kind: 'service', uses: [kit, contracts, identity] },
  { folder: 'dataplane/console', kind: 'service', uses: [kit, contracts, identity, flow, checks] },
  {
    folder: 'cli',
    kind: 'service',
    uses: [kit, contracts, resources, kube, checks, providers, identity, flow, diagnosis],
  },
];

/** Folders whose files may import any module, because they test it or generate from it. */
export const freeFolders: readonly string[] = ['e2e', 'hack', 'examples'];

/** The test support that tests outside of e2e may import. */
export const proofFolder = 'e2e/support';

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

export function moduleOf(path: string): Module | undefined {
  return modules.find((module) => isInside(path, module.folder));
}
