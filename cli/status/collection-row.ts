import type { CollectionResource } from '#resources/collection';
import type { Stored } from '#resources/metadata';

/** The state `waiting` means that the operator has not processed the current generation yet. */
export type CollectionState = 'ready' | 'reindexing' | 'faulty' | 'waiting' | 'deleting';

export type CollectionRow = {
  readonly name: string;
  readonly tenant: string;
  /** The name of the collection in its tenant. */
  readonly collection: string;
  readonly state: CollectionState;
  readonly documents?: number;
  /** Documents of the version that is being built: done and total. */
  readonly reindex?: { readonly done: number; readonly total: number };
  /** The reason why the collection is not ready, or not yet deleted; absent when it is ready. */
  readonly why?: string;
};

export function collectionRow(resource: Stored<CollectionResource>): CollectionRow {
  const { metadata, spec, status } = resource;
  const reindex = status?.reindex;
  const why = whyOf(resource);
  return {
    name: metadata.name,
    tenant: spec.tenant,
    collection: spec.name,
    state: collectionState(resource),
    ...(status?.documents === undefined ? {} : { documents: status.documents }),
    ...(reindex?.state === 'Building'
      ? { reindex: { done: reindex.documentsDone, total: reindex.documentsTotal } }
      : {}),
    ...(why === undefined ? {} : { why }),
  };
}

export function collectionState({ metadata, status }: Stored<CollectionResource>): CollectionState {
  if (metadata.deletionTimestamp !== undefined) return 'deleting';
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.observedGeneration !== metadata.generation) return 'waiting';
  if (ready.status !== 'True') return 'faulty';
  return status?.reindex?.state === 'Building' ? 'reindexing' : 'ready';
}

/**
 * A failed reindex, and a detector that returns no judgement, are also reported, although the collection answers
 * queries meanwhile.
 */
function whyOf(resource: Stored<CollectionResource>): string | undefined {
  const conditions = resource.status?.conditions;
  const ready = conditions?.find(({ type }) => type === 'Ready');
  switch (collectionState(resource)) {
    case 'faulty':
      return ready?.message;
    case 'deleting':
      return ready?.reason === 'DeletionHeld' ? ready.message : 'the collection is being deleted';
    case 'waiting':
      return 'the operator has not processed it yet';
    case 'ready':
      return (
        conditions?.find(({ reason }) => reason === 'ReindexFailed')?.message ??
        conditions?.find(({ type, status }) => type === 'ProviderReachable' && status === 'False')?.message
      );
    case 'reindexing':
      return undefined;
  }
}
