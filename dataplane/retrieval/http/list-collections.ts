import { success } from '#api/operation';
import { watchClient } from '#api/watch-client';
import { readableAmong, readableCollections } from '../access/permissions.ts';
import { type CollectionPage, listPlaces, listVisibleCollections } from '../collections/collection-record.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { shownCollection } from './shown-collection.ts';

/** Number of collections whose rights are checked in one call. */
const batch = 100;

/**
 * Lists the collections that the caller may read, including public collections of the tenant: the collections of a
 * page, or all.
 */
export async function listCollections(
  request: RetrievalRequest,
  page: CollectionPage = {},
): Promise<RetrievalResponse> {
  const { service, caller } = request;
  const listed = await readableCollections(service.relations, caller);
  const ids = listed === 'too_many' ? await readableInOrder(request, page) : listed;
  const records = await listVisibleCollections(service.database.sql, { tenant: caller.tenant, ids }, page);
  const shown = [];
  for (const record of records) shown.push(await shownCollection(request, record));
  return success(shown);
}

/**
 * Lists collections for a caller with more relations than the store lists: the time depends on the number of
 * collections of the tenant, up to the last collection of the page.
 */
async function readableInOrder(
  { service, caller, incoming }: RetrievalRequest,
  page: CollectionPage,
): Promise<readonly string[]> {
  using client = watchClient(incoming);
  const { limit = Number.POSITIVE_INFINITY } = page;
  const all = await listPlaces(service.database.sql, caller.tenant, page);
  const readable: string[] = [];
  for (let at = 0, found = 0; at < all.length && found < limit; at += batch) {
    client.signal.throwIfAborted();
    const some = all.slice(at, at + batch);
    const hidden = some.filter(({ isPublic }) => !isPublic).map(({ id }) => id);
    const ids = await readableAmong(service.relations, caller, hidden);
    readable.push(...ids);
    found += some.length - hidden.length + ids.length;
  }
  return readable;
}
