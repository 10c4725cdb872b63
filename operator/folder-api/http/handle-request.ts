import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bearerToken } from '#kit/http/bearer';
import { sendBytes, sendJson } from '#kit/http/json-answer';
import { headerValues } from '#kit/http/raw-headers';
import { drainRefused, readBody } from '#kit/http/read-body';
import type { TokenFile } from '#kit/http/token-file';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import type { Clock } from '#kit/time/clock';
import { group, type Kind } from '#resources/kinds';
import { ApiRefusal, notFound, statusOf } from '../api-refusal.ts';
import { decideCreate, nameInBody } from '../decide-create.ts';
import { decideDelete, readDeleteOptions } from '../decide-delete.ts';
import { decidePatch } from '../decide-patch.ts';
import type { ListSnapshots } from '../list-snapshots.ts';
import { refuseDeletion, refuseUnguardedVersion, refuseUnguarding } from '../refuse-unprotecting.ts';
import type { ResourceStore, WriteMode } from '../resource-store.ts';
import type { StoredObject } from '../stored-object.ts';
import { discoveryDocuments } from './discovery.ts';
import { listObjects } from './list-objects.ts';
import { readListQuery } from './list-query.ts';
import { type RequestTarget, readTarget, unknownPath } from './request-target.ts';
import { watchObjects } from './watch-objects.ts';

/** Largest request, the limit of the API server. */
const maxBodyBytes = 3_145_728;
const bodyTimeoutMs = 10_000;
const patchType = 'application/json-patch+json';

type HandlerOptions = {
  readonly store: ResourceStore;
  readonly snapshots: ListSnapshots;
  readonly namespace: string;
  readonly tokenFile: Pick<TokenFile, 'accepts'>;
  readonly clock: Clock;
  /** Ends every watch. */
  readonly stopping: AbortSignal;
  /** Further documents by path, created for each request. */
  readonly documents: ReadonlyMap<string, () => object>;
  /** Called with internal errors; the client receives no detail of them. */
  readonly onFault: (error: unknown) => void;
};

/** Answers one request of the Kubernetes REST subset. */
export async function handleRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: HandlerOptions,
): Promise<void> {
  try {
    authenticate(incoming, options.tokenFile);
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    await answer(incoming, outgoing, url, options);
  } catch (error) {
    refuse(incoming, outgoing, error, options);
  }
}

function authenticate(incoming: IncomingMessage, tokenFile: Pick<TokenFile, 'accepts'>): void {
  const bearer = bearerToken(incoming.rawHeaders);
  if (!bearer.ok || !tokenFile.accepts(bearer.token)) throw new ApiRefusal('Unauthorized', 'Unauthorized');
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, error: unknown, options: HandlerOptions): void {
  const refusal = error instanceof ApiRefusal ? error : new ApiRefusal('InternalError', 'an internal error occurred');
  if (refusal !== error) options.onFault(error);
  if (outgoing.headersSent) return void outgoing.destroy();
  drainRefused(incoming, outgoing);
  const { retryAfterSeconds } = refusal.details;
  sendJson(
    outgoing,
    refusal.httpStatus,
    statusOf(refusal),
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, url: URL, options: HandlerOptions) {
  const target = readTarget(url.pathname, options.namespace);
  const mode = readWriteMode(incoming.method, url.searchParams);
  switch (target.type) {
    case 'collection':
      return answerCollection(incoming, outgoing, url, { ...target, mode }, options);
    case 'object':
      return answerObject(incoming, outgoing, { ...target, mode }, options);
    case 'other': {
      const document = options.documents.get(target.path)?.() ?? discoveryDocuments.get(target.path);
      if (document === undefined) throw unknownPath();
      if (incoming.method !== 'GET') throw notAllowed();
      return sendJson(outgoing, 200, document);
    }
  }
}

type Mode = { readonly mode: WriteMode };

async function answerCollection(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  url: URL,
  { kind, namespace, mode }: Extract<RequestTarget, { type: 'collection' }> & Mode,
  options: HandlerOptions,
): Promise<void> {
  const { store, snapshots } = options;
  if (incoming.method === 'GET') {
    const query = readListQuery(url.searchParams, kind);
    if (query.watch) return watchObjects(outgoing, kind, query, store, options.stopping);
    return listObjects(outgoing, kind, query, snapshots, store.version());
  }
  if (incoming.method !== 'POST' || namespace === undefined) throw notAllowed();
  const body = await readJson(incoming, 'application/json');
  const created = { kind, namespace, body, uid: randomUUID(), now: options.clock.date() };
  const decide = (current: StoredObject | undefined) =>
    refuseUnguardedVersion(store, kind, decideCreate(created, current));
  const { object } = await store.change(kind, nameInBody(body), decide, mode);
  sendBytes(outgoing, 201, 'application/json', object.bytes);
}

async function answerObject(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { kind, name, part, mode }: Extract<RequestTarget, { type: 'object' }> & Mode,
  options: HandlerOptions,
): Promise<void> {
  const { store } = options;
  switch (incoming.method) {
    case 'GET': {
      const object = store.get(kind, name);
      if (object === undefined) throw notFound(kind, name);
      return sendBytes(outgoing, 200, 'application/json', object.bytes);
    }
    case 'PATCH': {
      const patch = await readJson(incoming, patchType);
      const decide = (current: StoredObject | undefined) =>
        refuseUnguarding(store, kind, current, decidePatch({ kind, name, part, patch }, current));
      const { object } = await store.change(kind, name, decide, mode);
      return sendBytes(outgoing, 200, 'application/json', object.bytes);
    }
    case 'DELETE': {
      if (part === 'status') throw notAllowed();
      const body = readDeleteOptions(await readOptionalJson(incoming));
      const deletion = { kind, name, options: body, now: options.clock.date() };
      const decide = (current: StoredObject | undefined) => {
        const decision = decideDelete(deletion, current);
        if (current === undefined) return decision;
        const { resourceVersion } = body.preconditions ?? {};
        return refuseDeletion(store, current, { decision, resourceVersion });
      };
      const { object, act } = await store.change(kind, name, decide, mode);
      if (act === 'remove') return sendJson(outgoing, 200, deleted(kind, name, object.metadata.uid));
      return sendBytes(outgoing, 200, 'application/json', object.bytes);
    }
    default:
      throw notAllowed();
  }
}

/** `dryRun=All` of a write, as in Kubernetes; anything else is refused rather than ignored. */
function readWriteMode(method: string | undefined, query: URLSearchParams): WriteMode {
  const values = query.getAll('dryRun');
  if (values.length === 0) return 'stored';
  if (method !== 'GET' && values.every((value) => value === 'All')) return 'dry';
  throw new ApiRefusal('BadRequest', 'dryRun must be All, in a request that writes');
}

function deleted(kind: Kind, name: string, uid: string): object {
  const details = { name, group, kind: kind.plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

async function readJson(incoming: IncomingMessage, type: string): Promise<unknown> {
  const [contentType = ''] = headerValues(incoming.rawHeaders, 'content-type');
  if (contentType.split(';')[0]?.trim().toLowerCase() !== type) {
    throw new ApiRefusal('UnsupportedMediaType', `the body of the request was in an unknown format: send ${type}`);
  }
  return parse(await readBytes(incoming));
}

async function readOptionalJson(incoming: IncomingMessage): Promise<unknown> {
  const bytes = await readBytes(incoming);
  return bytes.length === 0 ? undefined : parse(bytes);
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const body = await readBody(incoming, { limit: maxBodyBytes, signal: AbortSignal.timeout(bodyTimeoutMs) });
  if (body.ok) return body.bytes;
  if (body.fault === 'too_large') {
    throw new ApiRefusal('RequestEntityTooLarge', `a request is at most ${maxBodyBytes} bytes`);
  }
  throw new ApiRefusal('BadRequest', 'the body of the request did not arrive');
}

function parse(bytes: Buffer): unknown {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw new ApiRefusal('BadRequest', `the body is not strict JSON: ${error.fault}`);
    throw error;
  }
}

function notAllowed(): ApiRefusal {
  return new ApiRefusal('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}
