import type { Database } from '#sql/connect';

/** The newest reindex of a collection, as its status shows it. */
export type ReindexProgress = {
  readonly version: number;
  readonly embeddingProfileId: string;
  readonly state: 'building' | 'active' | 'retired' | 'failed';
  /** Live documents at the begin of the reindex, and how many of them the version holds. */
  readonly documentsTotal: number;
  readonly documentsDone: number;
  readonly failure: string | null;
};

/** Undefined if the collection was never reindexed. */
export async function readReindex({ sql }: Database, collectionId: string): Promise<ReindexProgress | undefined> {
  const [row] = await sql<ReindexProgress[]>`
    select number as version, embedding_profile_id as "embeddingProfileId", state,
      documents_total as "documentsTotal", least(documents_done, documents_total) as "documentsDone", failure
    from retrieval.index_versions where collection_id = ${collectionId} and number > 1
    order by number desc limit 1`;
  return row;
}
