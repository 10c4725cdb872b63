import type { CollectionRecord } from '../collections/collection-record.ts';
import { isIndexRoomLeft } from '../ingest/submit/check-index-room.ts';
import type { Retrieval } from './retrieval.ts';

/**
 * Whether the index has room for a collection with the vectors of another profile. Vectors that are not longer always
 * have room, because such a reindex needs no more of the index.
 */
export async function hasRoomForProfile(
  { database, profiles, mostIndexBytes }: Pick<Retrieval, 'database' | 'profiles' | 'mostIndexBytes'>,
  collection: CollectionRecord,
  wanted: string,
): Promise<boolean> {
  const dimensionOf = (id: string): number => profiles().embedding.get(id)?.dimension ?? 0;
  const dimension = dimensionOf(wanted);
  if (dimension <= dimensionOf(collection.embeddingProfileId)) return true;
  return isIndexRoomLeft(database.sql, [{ ...collection, dimension }], mostIndexBytes);
}
