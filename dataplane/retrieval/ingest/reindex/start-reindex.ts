import type { Database } from '#sql/connect';

type ReindexStart =
  /** A version is being built: a new version, or an earlier one with the same profile. */
  | { readonly kind: 'building'; readonly version: number }
  /** A version is being built with another profile. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'absent' };

/**
 * Starts a new version of a collection while the active one serves (`retrieval:reindex:new-version`). From the commit
 * on, every document that becomes live is written to both versions.
 * @param profileId undefined for the profile of the active version
 */
export async function startReindex(
  database: Database,
  collectionId: string,
  profileId: string | undefined,
): Promise<ReindexStart> {
  return database.sql.begin(async (sql): Promise<ReindexStart> => {
    const [row] = await sql<{ profile: string }[]>`
      select embedding_profile_id as profile from retrieval.collections
      where collection_id = ${collectionId} and status <> 'deleted' for no key update`;
    if (row === undefined) return { kind: 'absent' };
    const wanted = profileId ?? row.profile;
    const versions = await sql<{ number: number; state: string; profile: string }[]>`
      select number, state, embedding_profile_id as profile from retrieval.index_versions
      where collection_id = ${collectionId}`;
    const building = versions.find(({ state }) => state === 'building');
    if (building !== undefined) {
      return building.profile === wanted ? { kind: 'building', version: building.number } : { kind: 'conflict' };
    }
    const version = Math.max(...versions.map(({ number }) => number)) + 1;
    await sql`
      insert into retrieval.index_versions (collection_id, number, embedding_profile_id, state, documents_total)
      select ${collectionId}, ${version}, ${wanted}, 'building', count(*) from retrieval.documents
      where collection_id = ${collectionId} and not deleted`;
    return { kind: 'building', version };
  });
}
