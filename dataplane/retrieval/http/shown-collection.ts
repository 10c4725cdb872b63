import type { Collection } from '#contracts/retrieval';
import { userWrites } from '../access/permissions.ts';
import { type CollectionRecord, collectionOf, collectionOfReader } from '../collections/collection-record.ts';
import type { RetrievalRequest } from './retrieval.ts';

/** A collection as a caller who may read it sees it: only a user who may write it sees why a reindex failed. */
export async function shownCollection(
  { service, caller }: Pick<RetrievalRequest, 'service' | 'caller'>,
  record: CollectionRecord,
): Promise<Collection> {
  const isPlain = typeof record.reindex?.failure !== 'string';
  if (isPlain || (await userWrites(service.relations, caller, record))) return collectionOf(record);
  return collectionOfReader(record);
}
