import type { EmbeddingProfile } from '#models/ports';
import { SearchUnavailableError } from '#search/search-error';
import { findCollection } from '../collections/collection-record.ts';
import { type CollectionSearch, type RankedChunk, type SearchPorts, searchCollection } from './search-collection.ts';

/** Maximum number of repetitions of a search whose documents changed while it ran. */
const mostRepetitions = 8;

/**
 * Searches a collection, and repeats the search if its documents changed between the choice of candidates and the
 * decision: the chunks of the earlier text are no longer visible, and those of the newer text were not among the
 * candidates.
 * @throws SearchUnavailableError if the collection changed during every repetition; otherwise as `searchCollection`
 */
export async function searchNewest(
  ports: SearchPorts,
  search: Omit<CollectionSearch, 'profile'>,
  profileOf: (id: string) => EmbeddingProfile | undefined,
): Promise<readonly RankedChunk[]> {
  let { collection } = search;
  for (let repetition = 0; repetition <= mostRepetitions; repetition += 1) {
    const profile = profileOf(collection.embeddingProfileId);
    const { ranked, isOvertaken } = await searchCollection(ports, { ...search, collection, profile });
    if (!isOvertaken) return ranked;
    const { tenant, collectionId } = search.visibility;
    const newest = await findCollection(ports.database.sql, tenant, { id: collectionId });
    if (newest === undefined) return [];
    collection = newest;
  }
  throw new SearchUnavailableError('behind');
}
