import type { ServerResponse } from 'node:http';
import { apiVersion, type Kind } from '#resources/kinds';
import { ApiRefusal, statusOf } from '../api-refusal.ts';
import type { Change } from '../history.ts';
import type { ResourceStore } from '../resource-store.ts';
import type { StoredObject } from '../stored-object.ts';
import { tooLargeVersion } from './list-objects.ts';
import type { ListQuery } from './list-query.ts';

type EventType = Change['type'];

/**
 * GET of a collection with watch=true: changes as one JSON object per line, until the timeout, the shutdown of the
 * server or the end of the connection. A watcher reads the shared history at its own pace and has no buffer; a watcher
 * that lags behind the history is disconnected.
 */
export function watchObjects(
  outgoing: ServerResponse,
  kind: Kind,
  query: ListQuery,
  store: ResourceStore,
  stopping: AbortSignal,
): void {
  if (query.resourceVersion > store.version()) throw tooLargeVersion(query.resourceVersion, store.version());
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.flushHeaders();
  if (query.resourceVersion !== 0 && query.resourceVersion < store.history.base) {
    outgoing.end(eventLine('ERROR', statusOf(tooOld(query.resourceVersion, store.history.base))));
    return;
  }
  const cursor = {
    version: query.resourceVersion === 0 ? sendState(outgoing, kind, query, store) : query.resourceVersion,
  };

  function pump(): void {
    if (cursor.version < store.history.base) return void outgoing.destroy();
    while (!outgoing.writableNeedDrain) {
      const change = store.history.after(cursor.version);
      if (change === undefined) return;
      cursor.version = change.object.version;
      const type = change.object.kind === kind ? selectedType(change, query.matches) : undefined;
      if (type !== undefined) writeEvent(outgoing, type, change.object);
    }
  }

  function finish(): void {
    stopListening();
    pump();
    if (outgoing.writableNeedDrain || outgoing.destroyed) return void outgoing.destroy();
    const bookmark = { apiVersion, kind: kind.kind, metadata: { resourceVersion: String(store.version()) } };
    outgoing.end(query.bookmarks ? eventLine('BOOKMARK', bookmark) : undefined);
  }

  function stopListening(): void {
    clearTimeout(timer);
    unsubscribe();
    stopping.removeEventListener('abort', finish);
    outgoing.off('drain', pump).off('close', stopListening);
  }

  const timer = setTimeout(finish, query.timeoutSeconds * 1000);
  const unsubscribe = store.subscribe(pump);
  stopping.addEventListener('abort', finish, { once: true });
  outgoing.on('drain', pump).on('close', stopListening);
  if (stopping.aborted) finish();
  else pump();
}

/** A watch without a version starts with all existing objects. */
function sendState(outgoing: ServerResponse, kind: Kind, query: ListQuery, store: ResourceStore): number {
  for (const object of store.list(kind)) {
    if (query.matches?.(object) !== false) writeEvent(outgoing, 'ADDED', object);
  }
  return store.version();
}

/** The event of a change within a selection; undefined if the change does not affect it. */
function selectedType(change: Change, matches: ListQuery['matches']): EventType | undefined {
  if (matches === undefined) return change.type;
  const before = change.previous !== undefined && matches(change.previous);
  const after = change.type !== 'DELETED' && matches(change.object);
  if (after) return before ? 'MODIFIED' : 'ADDED';
  return before ? 'DELETED' : undefined;
}

function writeEvent(outgoing: ServerResponse, type: EventType, object: StoredObject): void {
  outgoing.cork();
  outgoing.write(`{"type":"${type}","object":`);
  outgoing.write(object.bytes);
  outgoing.write('}\n');
  outgoing.uncork();
}

function eventLine(type: 'ERROR' | 'BOOKMARK', object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function tooOld(wanted: number, base: number): ApiRefusal {
  return new ApiRefusal('Expired', `too old resource version: ${wanted} (${base})`);
}
