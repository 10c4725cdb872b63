import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonPatchOperation } from '../client/json-patch.ts';

type Json = Record<string, unknown>;
type Metadata = { name: string; uid: string; resourceVersion: string; [member: string]: unknown };
type Held = Json & { apiVersion: string; kind: string; metadata: Metadata };
type Watcher = { readonly collection: string; readonly name: string | null; readonly outgoing: ServerResponse };

/** `cut` closes the connection before the request is executed, `unanswered` after it. */
type Fate = 'served' | 'cut' | 'unanswered';

export type FakeApiServer = AsyncDisposable & {
  readonly url: string;
  /** `METHOD path` of every request except watches. */
  readonly seen: readonly string[];
  /** The stored object of a plural and name, in any namespace. */
  object(plural: string, name: string): Held | undefined;
  objects(plural: string): readonly Held[];
  /** Edits an object like a user with kubectl. */
  change(plural: string, name: string, edit: (object: Held) => void): void;
  remove(plural: string, name: string): void;
  /** Chooses the fault of each request except watches. */
  fate: (incoming: IncomingMessage) => Fate | Promise<Fate>;
  /** Watches of this plural send no events until `catchUp` ends them; the next watches begin with the missed events. */
  fallBehind(plural: string): void;
  catchUp(plural: string): void;
  /** If true, closes every connection, including each new one, until it is called with false. */
  setAway(isAway: boolean): void;
};

/**
 * An HTTP server with in-memory objects of any Kubernetes kind: create, get, list, watch by name, JSON Patch with tests,
 * delete. For tests of built-in kinds, which the standalone operator does not serve, and of services that must not import
 * the operator; e2e/kube runs the same code against a real API server.
 */
export async function startFakeApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, Held>();
  const watchers = new Set<Watcher>();
  const seen: string[] = [];
  /** Deleted objects with the version of their deletion, which a watch from an earlier version receives. */
  const deleted: { readonly key: string; readonly object: Held }[] = [];
  let version = 0;
  const state: Pick<FakeApiServer, 'fate'> = { fate: () => 'served' };
  /** Plurals whose watches send no events. */
  const behind = new Set<string>();
  let away = false;

  function notify(type: string, key: string, object: Held): void {
    const [collection, name] = [key.slice(0, key.lastIndexOf('/')), object.metadata.name];
    for (const watcher of watchers) {
      if (watcher.collection !== collection || (watcher.name !== null && watcher.name !== name)) continue;
      if (behind.has(pluralOf(collection))) continue;
      watcher.outgoing.write(`${JSON.stringify({ type, object })}\n`);
    }
  }

  function put(key: string, object: Held, type: 'ADDED' | 'MODIFIED'): Held {
    version += 1;
    object.metadata.resourceVersion = String(version);
    objects.set(key, object);
    notify(type, key, object);
    return object;
  }

  function drop(key: string): void {
    const object = objects.get(key);
    if (object === undefined) return;
    version += 1;
    objects.delete(key);
    object.metadata.resourceVersion = String(version);
    deleted.push({ key, object });
    notify('DELETED', key, object);
  }

  function keyOf(plural: string, name: string): string {
    const end = `/${plural}/${name}`;
    return [...objects.keys()].find((key) => key.endsWith(end)) ?? end;
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (away) return void outgoing.socket?.destroy();
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    const key = url.pathname;
    if (url.searchParams.has('watch')) return watch(url, outgoing);
    seen.push(`${incoming.method} ${key}`);
    const body = await readJson(incoming);
    const fate = await state.fate(incoming);
    if (fate === 'cut') return void outgoing.socket?.destroy();
    if (fate === 'unanswered') outgoing.end = () => outgoing.destroy();
    if (incoming.method === 'POST') return create(key, body as Held, outgoing);
    const held = objects.get(key);
    if (isCollection(key)) return list(key, url.searchParams.get('fieldSelector'), outgoing);
    if (held === undefined) return refuse(outgoing, 404, 'NotFound', key);
    if (incoming.method === 'DELETE') {
      drop(key);
      return answer(outgoing, 200, { kind: 'Status', apiVersion: 'v1', status: 'Success' });
    }
    if (incoming.method === 'GET') return answer(outgoing, 200, held);
    const patched = applyPatch(held, body as readonly JsonPatchOperation[]);
    if (patched === undefined) return refuse(outgoing, 422, 'Invalid', key);
    answer(outgoing, 200, put(key, patched, 'MODIFIED'));
  }

  function create(collection: string, sent: Held, outgoing: ServerResponse): void {
    const key = `${collection}/${sent.metadata.name}`;
    if (objects.has(key)) {
      refuse(outgoing, 409, 'AlreadyExists', key);
      return;
    }
    const generation = sent.apiVersion.startsWith('portcullis.dev/') ? { generation: 1 } : {};
    const served = { uid: randomUUID(), creationTimestamp: new Date().toISOString(), ...generation };
    const metadata = { ...sent.metadata, ...served };
    answer(outgoing, 201, put(key, { ...sent, metadata }, 'ADDED'));
  }

  function list(collection: string, selector: string | null, outgoing: ServerResponse): void {
    const name = nameIn(selector);
    const items = [...objects].filter(([key]) => key.slice(0, key.lastIndexOf('/')) === collection);
    const chosen = items.map(([, item]) => item).filter((item) => name === null || item.metadata.name === name);
    const kind = `${kinds.get(collection.split('/').at(-1) ?? '')}List`;
    answer(outgoing, 200, { kind, apiVersion: 'v1', metadata: { resourceVersion: String(version) }, items: chosen });
  }

  function watch(url: URL, outgoing: ServerResponse): void {
    const name = nameIn(url.searchParams.get('fieldSelector'));
    const watcher = { collection: url.pathname, name, outgoing };
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.flushHeaders();
    watchers.add(watcher);
    const end = setTimeout(() => finish(watcher), Number(url.searchParams.get('timeoutSeconds') ?? 20) * 1_000);
    outgoing.on('close', () => {
      clearTimeout(end);
      watchers.delete(watcher);
    });
    if (behind.has(pluralOf(url.pathname))) return;
    const isMissed = (key: string, { metadata }: Held): boolean =>
      Number(metadata.resourceVersion) > Number(url.searchParams.get('resourceVersion')) &&
      key.slice(0, key.lastIndexOf('/')) === url.pathname &&
      (name === null || name === metadata.name);
    const changes = [
      ...deleted.map(({ key, object }) => ({ type: 'DELETED', key, object })),
      ...[...objects].map(([key, object]) => ({ type: 'MODIFIED', key, object })),
    ];
    for (const { type, key, object } of changes) {
      if (isMissed(key, object)) outgoing.write(`${JSON.stringify({ type, object })}\n`);
    }
  }

  /** Ends a watch after its time, with a bookmark, as an API server does. */
  function finish({ collection, outgoing }: Watcher): void {
    const apiVersion = collection.startsWith('/apis/') ? collection.split('/').slice(2, 4).join('/') : 'v1';
    const kind = kinds.get(pluralOf(collection));
    const object = { apiVersion, kind, metadata: { resourceVersion: String(version) } };
    const isBehind = behind.has(pluralOf(collection));
    outgoing.end(isBehind ? undefined : `${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    object: (plural: string, name: string) => objects.get(keyOf(plural, name)),
    objects: (plural: string) =>
      [...objects].filter(([key]) => key.includes(`/${plural}/`)).map(([, object]) => object),
    change(plural: string, name: string, edit: (object: Held) => void) {
      const key = keyOf(plural, name);
      const object = structuredClone(objects.get(key));
      if (object === undefined) throw new TypeError(`${key} does not exist`);
      edit(object);
      put(key, object, 'MODIFIED');
    },
    remove: (plural: string, name: string) => drop(keyOf(plural, name)),
    fallBehind: (plural: string) => void behind.add(plural),
    catchUp(plural: string) {
      behind.delete(plural);
      for (const { collection, outgoing } of watchers) if (pluralOf(collection) === plural) outgoing.destroy();
    },
    setAway(isAway: boolean) {
      away = isAway;
      if (isAway) server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

/** Kinds by plural. */
const kinds = new Map([
  ['leases', 'Lease'],
  ['events', 'Event'],
  ['configmaps', 'ConfigMap'],
  ['deployments', 'Deployment'],
  ['services', 'Service'],
  ['pods', 'Pod'],
  ['poddisruptionbudgets', 'PodDisruptionBudget'],
  ['networkpolicies', 'NetworkPolicy'],
  ['endpointslices', 'EndpointSlice'],
  ['agents', 'Agent'],
  ['agentversions', 'AgentVersion'],
  ['agentroutes', 'AgentRoute'],
]);

function isCollection(path: string): boolean {
  return kinds.has(pluralOf(path));
}

/** The last segment of the path of a collection. */
function pluralOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function nameIn(selector: string | null): string | null {
  return selector?.startsWith('metadata.name=') ? selector.slice('metadata.name='.length) : null;
}

async function readJson(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

function answer(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function refuse(outgoing: ServerResponse, code: number, reason: string, key: string): void {
  const details = { name: key.slice(key.lastIndexOf('/') + 1) };
  answer(outgoing, code, {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: reason,
    details,
  });
}

/** Applies the operations of RFC 6902 that the client sends; undefined if one of them does not apply. */
function applyPatch(object: Held, operations: readonly JsonPatchOperation[]): Held | undefined {
  const copy = structuredClone(object);
  for (const operation of operations) {
    const segments = operation.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = segments.pop() ?? '';
    const parent = segments.reduce<unknown>((at, segment) => (at as Json | undefined)?.[segment], copy) as
      | Json
      | undefined;
    if (parent === undefined) return undefined;
    if (operation.op === 'test' && JSON.stringify(parent[last]) !== JSON.stringify(operation.value)) return undefined;
    if (operation.op === 'add' || operation.op === 'replace') parent[last] = operation.value;
    if (operation.op === 'remove' && Array.isArray(parent)) parent.splice(Number(last), 1);
    else if (operation.op === 'remove' && !delete parent[last]) return undefined;
  }
  return copy;
}
