import type { Database } from '#sql/connect';
import type { ClaimedVersion } from './claim-version.ts';
import { lockBuilding } from './prepare-version.ts';

type SwitchOutcome = 'switched' | 'incomplete' | 'claim_over';

/**
 * Makes a built version the active one in one commit (`retrieval:reindex:atomic`). The lock of the collection's row
 * keeps documents from becoming live meanwhile, so that at the commit the new version has all chunks of every live
 * document.
 */
export async function switchVersion(database: Database, claim: ClaimedVersion): Promise<SwitchOutcome> {
  const { collectionId, version } = claim;
  return database.sql.begin(async (sql): Promise<SwitchOutcome> => {
    const end = await lockBuilding(sql, claim);
    if (end !== 'complete') return end;
    await sql`
      update retrieval.index_versions set state = 'retired', ended_at = clock_timestamp()
      where collection_id = ${collectionId} and state = 'active'`;
    await sql`
      update retrieval.index_versions v set state = 'active', ended_at = clock_timestamp(), unavailable_since = null,
        documents_total = c.doc_count, documents_done = c.doc_count
      from retrieval.collections c
      where c.collection_id = v.collection_id and v.collection_id = ${collectionId} and v.number = ${version}`;
    await sql`
      update retrieval.collections c set active_version = v.number, embedding_profile_id = v.embedding_profile_id,
        updated_at = clock_timestamp(), chunk_count = (
          select coalesce(sum(i.chunk_count), 0) from retrieval.indexed_documents i join retrieval.documents d using (doc)
          where d.collection_id = c.collection_id and i.version = v.number and not d.deleted)
      from retrieval.index_versions v
      where c.collection_id = ${collectionId} and v.collection_id = c.collection_id and v.number = ${version}`;
    await sql`delete from retrieval.preloads where collection_id = ${collectionId} and version = ${version}`;
    return 'switched';
  });
}
