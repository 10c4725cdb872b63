import type { Collection } from '#contracts/retrieval';
import { setCondition } from '#kube/apply/conditions';
import type { CollectionResource, CollectionStatus } from '#resources/collection';
import type { Stored } from '#resources/metadata';
import { boundedFailure, collectionConditions } from './conditions.ts';
import type { CollectionResult } from './decide.ts';

const states = { created: 'Created', populating: 'Populating', ready: 'Ready', error: 'Error' } as const;

/** The status at the end of a pass. The last observation of the collection is kept until a new one is made. */
export function makeCollectionStatus(
  { metadata, spec, status }: Stored<CollectionResource>,
  result: CollectionResult,
  now: Date,
): CollectionStatus {
  const { conditions: before, observedGeneration: _generation, ...known } = status ?? {};
  const conditions = collectionConditions(result, spec.embeddingProfile, metadata.generation).reduce(
    (list, change) => setCondition(list, change, now),
    before ?? ([] as ReturnType<typeof setCondition>),
  );
  return {
    conditions: [...conditions],
    observedGeneration: metadata.generation,
    ...(result.kind === 'ensured' ? observed(result.collection) : known),
  };
}

function observed(collection: Collection): Omit<CollectionStatus, 'conditions' | 'observedGeneration'> {
  const { reindex } = collection;
  const failure = reindex?.state === 'failed' ? boundedFailure(reindex) : undefined;
  return {
    collectionId: collection.collection_id,
    ...(collection.status === 'deleted' ? {} : { state: states[collection.status] }),
    activeVersion: collection.active_version,
    embeddingProfile: collection.embedding_profile_id,
    ...(collection.parent_id === null ? {} : { parentId: collection.parent_id }),
    documents: collection.doc_count,
    chunks: collection.chunk_count,
    ...(reindex === undefined
      ? {}
      : {
          reindex: {
            version: reindex.version,
            embeddingProfile: reindex.embedding_profile_id,
            state: reindex.state === 'building' ? ('Building' as const) : ('Failed' as const),
            documentsDone: reindex.documents_done,
            documentsTotal: reindex.documents_total,
            ...(failure === undefined ? {} : { failure }),
          },
        }),
  };
}
