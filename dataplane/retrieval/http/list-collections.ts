import { success } from '#api/operation';
import { watchClient } from '#api/watch-client';
import { readableAmong, readableCollections } from '../access/permissions.ts';
import { collectionOf, listPrivateIds, listVisibleCollections } from '../collections/collection-record.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Collections whose right is asked at once. */
const batch = 100;

/** Lists the collections that the caller may read, public ones of the tenant included. */
export async function listCollections(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller } = request;
  const listed = await readableCollections(service.relations, caller);
  const ids = listed === 'too_many' ? await readableOfAll(request) : listed;
  const records = await listVisibleCollections(service.database.sql, caller.tenant, ids);
  return success(records.map(collectionOf));
}

/** For a caller with more relations than the store lists: the time depends on the collections of the tenant. */
async function readableOfAll({ service, caller, incoming }: RetrievalRequest): Promise<readonly string[]> {
  using client = watchClient(incoming);
  const all = await listPrivateIds(service.database.sql, caller.tenant);
  const readable: string[] = [];
  for (let at = 0; at < all.length; at += batch) {
    client.signal.throwIfAborted();
    readable.push(...(await readableAmong(service.relations, caller, all.slice(at, at + batch))));
  }
  return readable;
}
