import type { TokenFile } from '#kit/http/token-file';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { type ClusterAccess, tokenCredentials } from './cluster-access.ts';
import { type KubeConnection, openConnection, type RequestReport } from './connection.ts';
import { acceptOf, decodeList, decodeObject, type ObjectList } from './decode-object.ts';
import type { JsonPatchOperation } from './json-patch.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';
import { resourcePath } from './resource-path.ts';
import { type WatchEvent, type WatchOptions, watchOnce } from './watch.ts';

export type { RequestReport } from './connection.ts';
export type { JsonPatchOperation } from './json-patch.ts';
export { KubeError } from './kube-error.ts';
export type { WatchEvent, WatchOptions } from './watch.ts';

const defaultRequestTimeoutMs = 15_000;
const listTimeoutMs = 60_000;

export type ListOptions = {
  /** Maximum number of objects per page; when absent, all objects are in one response. */
  readonly limit?: number;
  /** `continue` token of the previous page; limit and selector must be the same. */
  readonly continue?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The read is consistent when absent; "0" permits any cached state, another value permits a state not older than it. */
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
};

type DeleteOptions = {
  /** UID that the object must have, so that a new object of the same name is not deleted. */
  readonly uid: string;
  /** Resource version that the object must have. */
  readonly resourceVersion?: string;
};

/**
 * Client for the resources of one namespace, served by the Kubernetes API or by the standalone operator. Every failure
 * is a KubeError. Returned objects have no managedFields and belong to the caller. `R` is the type that the caller
 * expects; only the members that every server sets are checked. A write that failed with `network` may have been
 * executed: writes have preconditions, so that they can be repeated.
 */
export type KubeClient = {
  readonly namespace: string;
  /** The newest state; undefined only when the server reports this object as not found. */
  get<R extends KubeObject = Resource>(kind: Kind, name: string): Promise<Stored<R> | undefined>;
  /**
   * Returns one page, ordered by name; all pages show the same point in time. Fails with `gone` when the token has
   * expired.
   */
  list<R extends KubeObject = Resource>(kind: Kind, options?: ListOptions): Promise<ObjectList<R>>;
  /** Fails with `already_exists` when the name is taken; a status in `object` is ignored. */
  create<R extends KubeObject = Resource>(kind: Kind, object: R): Promise<Stored<R>>;
  /** Applies a JSON Patch atomically to everything but the status; `precondition_failed` when it does not apply. */
  patch<R extends KubeObject = Resource>(
    kind: Kind,
    name: string,
    operations: readonly JsonPatchOperation[],
  ): Promise<Stored<R>>;
  /** Applies a JSON Patch to the status only; changes outside the status are ignored. */
  patchStatus<R extends KubeObject = Resource>(
    kind: Kind,
    name: string,
    operations: readonly JsonPatchOperation[],
  ): Promise<Stored<R>>;
  /**
   * Deletes an object. Fails with `conflict` if the UID or the version differs; an object with finalizers is removed
   * with its last finalizer.
   */
  delete(kind: Kind, name: string, options: DeleteOptions): Promise<void>;
  /** Changes in order until the server ends the watch or the signal is aborted. `gone`: the caller must list again. */
  watch<R extends KubeObject = Resource>(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent<R>, void, void>;
};

type Authentication =
  | Pick<ClusterAccess, 'credentials'>
  | { readonly tokenFile: Pick<TokenFile, 'first'>; readonly credentials?: undefined };

/** A ClusterAccess, or a URL and a token file; with the namespace of the objects. */
export type ClientOptions = Omit<ClusterAccess, 'credentials' | 'namespace'> &
  Authentication & {
    readonly namespace: string;
    /** Timeout of requests other than lists and watches, milliseconds; 15,000 when absent. */
    readonly requestTimeoutMs?: number;
    /** Whether the server only checks writes without storing them; when absent, writes are stored. */
    readonly dryRun?: boolean;
    /**
     * Whether the rules of `author-rules.ts` are in force on the server, so that the users whom its annotations name made the
     * changes; the annotations are not believed when absent.
     */
    readonly namesUsers?: boolean;
    /** Maximum number of open connections to the server, watches included; 48 when absent. */
    readonly maxSockets?: number;
    /** Called for every finished request, for metrics. */
    readonly onRequest?: (report: RequestReport) => void;
  };

/** A client with its own connection pool; disposing it aborts every request and watch. */
export function createClient(options: ClientOptions): KubeClient & AsyncDisposable {
  const { namespace, requestTimeoutMs = defaultRequestTimeoutMs, namesUsers = false } = options;
  const credentials = options.credentials ?? tokenCredentials(options.tokenFile);
  const connection = openConnection({ ...options, credentials });
  const dryRun = options.dryRun === true ? { dryRun: 'All' } : {};
  const pathOf = (kind: Kind, ...segments: readonly string[]): string => resourcePath(kind, namespace, ...segments);

  async function patchAt<R extends KubeObject = Resource>(
    kind: Kind,
    path: string,
    operations: readonly JsonPatchOperation[],
  ) {
    const answer = await connection.send({
      method: 'PATCH',
      path,
      query: { fieldValidation: 'Strict', ...dryRun },
      body: operations,
      contentType: 'application/json-patch+json',
      timeoutMs: requestTimeoutMs,
    });
    return decodeObject<R>(answer, kind, namesUsers);
  }

  return {
    namespace,
    async get<R extends KubeObject = Resource>(kind: Kind, name: string) {
      const found = await getObject(connection, pathOf(kind, name), kind, name, requestTimeoutMs);
      return found === undefined ? undefined : decodeObject<R>(found, kind, namesUsers);
    },
    async list(kind, list = {}) {
      const answer = await connection.send({
        method: 'GET',
        path: pathOf(kind),
        accept: acceptOf(kind, 'list'),
        query: listQuery(list),
        timeoutMs: listTimeoutMs,
        signal: list.signal,
      });
      return decodeList(answer, kind, namesUsers);
    },
    async create<R extends KubeObject = Resource>(kind: Kind, object: R) {
      const answer = await connection.send({
        method: 'POST',
        path: pathOf(kind),
        query: { fieldValidation: 'Strict', ...dryRun },
        body: object,
        timeoutMs: requestTimeoutMs,
      });
      return decodeObject<R>(answer, kind, namesUsers);
    },
    patch: (kind, name, operations) => patchAt(kind, pathOf(kind, name), operations),
    patchStatus: (kind, name, operations) => patchAt(kind, pathOf(kind, name, 'status'), operations),
    async delete(kind, name, preconditions) {
      await connection.send({
        method: 'DELETE',
        path: pathOf(kind, name),
        query: dryRun,
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions },
        timeoutMs: requestTimeoutMs,
      });
    },
    watch: (kind, watch) => watchOnce(connection, pathOf(kind), kind, { ...watch, namesUsers }),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Undefined only when the 404 names this object: the 404 of a proxy or of an unknown kind is an error. */
async function getObject(
  connection: KubeConnection,
  path: string,
  kind: Kind,
  name: string,
  timeoutMs: number,
): Promise<unknown> {
  try {
    return await connection.send({ method: 'GET', path, accept: acceptOf(kind, 'object'), timeoutMs });
  } catch (error) {
    if (error instanceof KubeError && error.code === 'not_found' && error.details.absent === name) return undefined;
    throw error;
  }
}

function listQuery(options: ListOptions): Record<string, string | undefined> {
  const notOlder = options.resourceVersion !== undefined && options.continue === undefined;
  return {
    limit: options.limit === undefined ? undefined : String(options.limit),
    continue: options.continue,
    labelSelector: options.labelSelector,
    fieldSelector: options.fieldSelector,
    resourceVersion: notOlder ? options.resourceVersion : undefined,
    resourceVersionMatch: notOlder ? 'NotOlderThan' : undefined,
  };
}
