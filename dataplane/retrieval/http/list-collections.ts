import { success } from '#api/operation';
import { readableCollections } from '../access/permissions.ts';
import { collectionOf, listVisibleCollections } from '../collections/collection-record.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Lists the collections that the caller may read, public ones of the tenant included. */
export async function listCollections({ service, caller }: RetrievalRequest): Promise<RetrievalResponse> {
  const ids = await readableCollections(service.relations, caller);
  const records = await listVisibleCollections(service.database.sql, caller.tenant, ids);
  return success(records.map(collectionOf));
}
