import type { TokenFile } from '#kit/http/token-file';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { type ClusterAccess, tokenCredentials } from './cluster-access.ts';
import { type Connection, openConnection, type RequestReport } from './connection.ts';
import type { JsonPatchOperation } from './json-patch.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';
import { resourcePath } from './resource-path.ts';
import { acceptOf, type ObjectList, servedList, servedObject } from './served-object.ts';
import { type WatchEvent, type WatchOptions, watchOnce } from './watch.ts';

export type { RequestReport } from './connection.ts';
export type { JsonPatchOperation } from './json-patch.ts';
export { KubeError, type KubeErrorCode } from './kube-error.ts';
export type { ObjectList } from './served-object.ts';
export type { WatchEvent, WatchOptions } from './watch.ts';

const defaultRequestTimeoutMs = 15_000;
const listTimeoutMs = 60_000;

export type ListOptions = {
  /** Objects per page; all in one answer when absent. A server may send fewer. */
  readonly limit?: number;
  /** Token of the page before; limit and selector must be the same. */
  readonly continue?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Absent: a consistent read of the newest state. "0": any state the server has at hand. Else: not older than this. */
  readonly resourceVersion?: string;
  readonly signal?: AbortSignal;
};

export type DeleteOptions = {
  /** UID that the object must have; a delete never hits a namesake. */
  readonly uid: string;
  /** Version that the object must have. */
  readonly resourceVersion?: string;
};

/**
 * The resources port: custom resources of one namespace, served by the Kubernetes API or by the operator's folder.
 * Every failure is a KubeError. Objects come without managedFields and belong to the caller. `R` is what the caller
 * knows of the kind; only what a server always sets is checked. The writer of a request that ended with `network`
 * does not know whether it happened: writes carry preconditions, so that sending them again is safe.
 */
export type KubeClient = {
  readonly namespace: string;
  /** The newest state; undefined only when the server says that there is no such object. */
  get<R extends KubeObject = Resource>(kind: Kind, name: string): Promise<Stored<R> | undefined>;
  /** One page, ordered by name, all pages of one list from one point in time. `gone`: the token is too old. */
  list<R extends KubeObject = Resource>(kind: Kind, options?: ListOptions): Promise<ObjectList<R>>;
  /** `already_exists` when there is one of the name; a status in `object` is ignored. */
  create<R extends KubeObject = Resource>(kind: Kind, object: R): Promise<Stored<R>>;
  /** Applies a JSON Patch to all but the status, whole or not at all; `precondition_failed` when it does not apply. */
  patch<R extends KubeObject = Resource>(
    kind: Kind,
    name: string,
    operations: readonly JsonPatchOperation[],
  ): Promise<Stored<R>>;
  /** Applies a JSON Patch to the status alone; changes of anything else in it are ignored. */
  patchStatus<R extends KubeObject = Resource>(
    kind: Kind,
    name: string,
    operations: readonly JsonPatchOperation[],
  ): Promise<Stored<R>>;
  /** `conflict` when the object is another one; with finalizers it goes only when the last of them does. */
  delete(kind: Kind, name: string, options: DeleteOptions): Promise<void>;
  /** Changes in order, until the server ends the watch (20 to 25 s) or the signal is aborted; `gone`: list anew. */
  watch<R extends KubeObject = Resource>(kind: Kind, options: WatchOptions): AsyncGenerator<WatchEvent<R>, void, void>;
};

/** Who sends: the credentials of an access, or the token of a file. */
type Sender =
  | Pick<ClusterAccess, 'credentials'>
  | { readonly tokenFile: Pick<TokenFile, 'first'>; readonly credentials?: undefined };

/** A ClusterAccess as it is, or an address and a token file; in both cases the namespace whose objects are meant. */
export type ClientOptions = Omit<ClusterAccess, 'credentials' | 'namespace'> &
  Sender & {
    readonly namespace: string;
    /** Milliseconds for a request that is no list and no watch; 15,000 when absent. */
    readonly requestTimeoutMs?: number;
    /** To the server at the same time, watches included; 48 when absent. */
    readonly maxSockets?: number;
    /** Learns of every finished request, for metrics. */
    readonly onRequest?: (report: RequestReport) => void;
  };

/** A client over one connection pool; disposing it ends every request and watch. */
export function createClient(options: ClientOptions): KubeClient & AsyncDisposable {
  const { namespace, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const credentials = options.credentials ?? tokenCredentials(options.tokenFile);
  const connection = openConnection({ ...options, credentials });
  const pathOf = (kind: Kind, ...segments: readonly string[]): string => resourcePath(kind, namespace, ...segments);

  async function patchAt<R extends KubeObject = Resource>(
    kind: Kind,
    path: string,
    operations: readonly JsonPatchOperation[],
  ) {
    const answer = await connection.send({
      method: 'PATCH',
      path,
      query: { fieldValidation: 'Strict' },
      body: operations,
      contentType: 'application/json-patch+json',
      timeoutMs: requestTimeoutMs,
    });
    return servedObject<R>(answer, kind);
  }

  return {
    namespace,
    get: (kind, name) => getObject(connection, pathOf(kind, name), kind, name, requestTimeoutMs),
    async list(kind, list = {}) {
      const answer = await connection.send({
        method: 'GET',
        path: pathOf(kind),
        accept: acceptOf(kind, 'list'),
        query: listQuery(list),
        timeoutMs: listTimeoutMs,
        signal: list.signal,
      });
      return servedList(answer, kind);
    },
    async create<R extends KubeObject = Resource>(kind: Kind, object: R) {
      const answer = await connection.send({
        method: 'POST',
        path: pathOf(kind),
        query: { fieldValidation: 'Strict' },
        body: object,
        timeoutMs: requestTimeoutMs,
      });
      return servedObject<R>(answer, kind);
    },
    patch: (kind, name, operations) => patchAt(kind, pathOf(kind, name), operations),
    patchStatus: (kind, name, operations) => patchAt(kind, pathOf(kind, name, 'status'), operations),
    async delete(kind, name, preconditions) {
      await connection.send({
        method: 'DELETE',
        path: pathOf(kind, name),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions },
        timeoutMs: requestTimeoutMs,
      });
    },
    watch: (kind, watch) => watchOnce(connection, pathOf(kind), kind, watch),
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Absent is only what the server names as absent: the 404 of a proxy or of a missing kind is a failure. */
async function getObject<R extends KubeObject = Resource>(
  connection: Connection,
  path: string,
  kind: Kind,
  name: string,
  timeoutMs: number,
): Promise<Stored<R> | undefined> {
  try {
    const accept = acceptOf(kind, 'object');
    return servedObject<R>(await connection.send({ method: 'GET', path, accept, timeoutMs }), kind);
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
