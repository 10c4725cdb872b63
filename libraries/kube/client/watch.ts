import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeConnection } from './connection.ts';
import { decodeLines } from './decode-lines.ts';
import { acceptOf, hasType, isStoredObject, withoutManagedFields } from './decode-object.ts';
import { KubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';
import { readStatusObject, statusToError } from './status-object.ts';

/** Long enough to start few watches, short enough to detect a dead server soon. */
const standardSeconds = 20;
/** A watch that the server did not end this long after its timeout is on a dead connection. */
const graceMs = 5_000;
/** Largest event: an object of 1.5 MiB with managedFields and escaped JSON text in it. */
const maxEventBytes = 16_777_216;

export type WatchEvent<R extends KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<R> }
  /** Every change up to the version of this bookmark was delivered. */
  | { readonly type: 'BOOKMARK'; readonly object: { readonly metadata: { readonly resourceVersion: string } } };

export type WatchOptions = {
  /** Changes after this version are delivered. */
  readonly resourceVersion: string;
  readonly signal?: AbortSignal;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Seconds after which the server ends the watch; 20 when absent. */
  readonly timeoutSeconds?: number;
  /** Longest wait for the beginning of the response, milliseconds; by default the timeout of the whole watch. */
  readonly connectTimeoutMs?: number;
};

/**
 * Yields events until the server ends the watch. @throws KubeError for an ERROR event, a truncated line or a dead
 * connection
 */
export async function* watchOnce<R extends KubeObject>(
  connection: KubeConnection,
  path: string,
  kind: Kind,
  options: WatchOptions & { readonly namesUsers: boolean },
): AsyncGenerator<WatchEvent<R>, void, void> {
  const seconds = options.timeoutSeconds ?? standardSeconds;
  const chunks = connection.stream({
    method: 'GET',
    path,
    accept: acceptOf(kind, 'object'),
    query: {
      watch: 'true',
      resourceVersion: options.resourceVersion,
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(seconds),
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
    },
    timeoutMs: seconds * 1000 + graceMs,
    signal: options.signal,
    ...(options.connectTimeoutMs === undefined ? {} : { connectTimeoutMs: options.connectTimeoutMs }),
  });
  for await (const line of decodeLines(chunks, maxEventBytes)) yield readEvent<R>(line, kind, options.namesUsers);
}

function readEvent<R extends KubeObject>(line: Buffer, kind: Kind, namesUsers: boolean): WatchEvent<R> {
  const event = parseLine(line);
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (!isStoredObject<R>(event.object, kind)) throw unreadable();
      return { type: event.type, object: withoutManagedFields(event.object, namesUsers) };
    case 'BOOKMARK':
      return { type: 'BOOKMARK', object: { metadata: { resourceVersion: bookmarkVersion(event.object, kind) } } };
    case 'ERROR':
      throw errorEvent(event.object);
    default:
      throw unreadable();
  }
}

function parseLine(line: Buffer): { readonly type?: unknown; readonly object?: unknown } {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    throw unreadable();
  }
  throw unreadable();
}

function bookmarkVersion(object: unknown, kind: Kind): string {
  const bookmark = object as Partial<KubeObject> | null;
  const version: unknown = bookmark?.metadata?.resourceVersion;
  if (typeof version !== 'string' || !hasType(bookmark, kind)) throw unreadable();
  return version;
}

function errorEvent(object: unknown): KubeError {
  return statusToError(readStatusObject(object)?.code ?? 500, object);
}

function unreadable(): KubeError {
  return new KubeError('network', 'an event of the watch is malformed');
}
