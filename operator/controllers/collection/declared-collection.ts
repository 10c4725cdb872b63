import type { CollectionResource, CollectionSpec } from '#resources/collection';
import { restoredUidAnnotation } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { CollectionPlace, DeclaredCollection } from '../../collections/ports.ts';

const types = { KnowledgeBase: 'knowledge_base', Documents: 'documents', Files: 'files' } as const;
const visibilities = { Private: 'private', Public: 'public' } as const;
const aclModels = { Document: 'document', Collection: 'collection' } as const;
const modes = { Hybrid: 'hybrid', Vector: 'vector', Terms: 'bm25' } as const;
const emptyAclPolicies = { Reject: 'reject', Strictest: 'strictest' } as const;

/** The manager of the collection: the UID of the resource, or of the resource that it was restored from. */
export function managerOf({ metadata }: Stored<CollectionResource>): string {
  return metadata.annotations?.[restoredUidAnnotation] ?? metadata.uid;
}

/**
 * A new collection has its manager as its id, so that a later resource of the same name gets another
 * collection.
 */
export function collectionPlace(manager: string, { tenant, source }: CollectionSpec): CollectionPlace {
  return { tenant, collectionId: source.mode === 'New' ? manager : source.collectionId.toLowerCase() };
}

/** The collection that a resource declares, as a request body of the retrieval service. */
export function declaredCollection(manager: string, spec: CollectionSpec): DeclaredCollection {
  const { mode, results, rerankProfile } = spec.retrievalDefaults ?? {};
  const { parent } = spec;
  return {
    manager,
    owner: spec.owner,
    adopt: spec.source.mode === 'Existing',
    ...(parent === undefined ? {} : { parent_id: parent.mode === 'None' ? null : parent.collectionId.toLowerCase() }),
    collection: {
      name: spec.name,
      description: spec.description ?? '',
      collection_type: types[spec.type],
      visibility: visibilities[spec.visibility],
      embedding_profile_id: spec.embeddingProfile,
      acl_model: aclModels[spec.aclModel],
      chunking: { ...spec.chunking },
      retrieval_defaults: {
        ...(mode === undefined ? {} : { mode: modes[mode] }),
        ...(results === undefined ? {} : { top_k: results }),
        ...(rerankProfile === undefined ? {} : { rerank_profile_id: rerankProfile }),
      },
      ...(spec.emptyAclPolicy === undefined ? {} : { empty_acl_policy: emptyAclPolicies[spec.emptyAclPolicy] }),
    },
  };
}
