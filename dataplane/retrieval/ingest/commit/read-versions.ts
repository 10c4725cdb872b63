import type { Database } from '#sql/connect';
import type { ChunkLengths } from '../text/chunk-range.ts';

/** A version that receives documents, and its embedding profile. */
type VersionPlan = { readonly version: number; readonly profileId: string };

/** The versions of a collection that receive every new document; undefined if the collection was deleted. */
export async function readVersions(
  { sql }: Database,
  collectionId: string,
): Promise<{ readonly lengths: ChunkLengths; readonly versions: readonly VersionPlan[] } | undefined> {
  const rows = await sql<(ChunkLengths & VersionPlan)[]>`
    select c.chunk_size as size, c.chunk_overlap as overlap, v.number as version, v.embedding_profile_id as "profileId"
    from retrieval.collections c join retrieval.index_versions v using (collection_id)
    where collection_id = ${collectionId} and c.status <> 'deleted' and v.state in ('active', 'building')
    order by v.number`;
  const [first] = rows;
  if (first === undefined) return undefined;
  const lengths = { size: first.size, overlap: first.overlap };
  return { lengths, versions: rows.map(({ version, profileId }) => ({ version, profileId })) };
}
