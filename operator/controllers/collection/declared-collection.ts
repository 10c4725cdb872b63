import type { CollectionSpec } from '#resources/collection';
import type { CollectionPlace, DeclaredCollection } from '../../collections/ports.ts';

const types = { KnowledgeBase: 'knowledge_base', Documents: 'documents', Files: 'files' } as const;
const visibilities = { Private: 'private', Public: 'public' } as const;
const aclModels = { Document: 'document', Collection: 'collection' } as const;
const modes = { Hybrid: 'hybrid', Vector: 'vector', Terms: 'bm25' } as const;
const emptyAclPolicies = { Reject: 'reject', Strictest: 'strictest' } as const;

/**
 * A new collection has the UID of its resource as its id, so that a later resource of the same name gets another
 * collection.
 */
export function collectionPlace(uid: string, { tenant, source }: CollectionSpec): CollectionPlace {
  return { tenant, collectionId: source.mode === 'New' ? uid : source.collectionId.toLowerCase() };
}

/** The collection that a resource declares, as a request body of the retrieval service. */
export function declaredCollection(uid: string, spec: CollectionSpec): DeclaredCollection {
  const { mode, results, rerankProfile } = spec.retrievalDefaults ?? {};
  return {
    manager: uid,
    owner: spec.owner,
    adopt: spec.source.mode === 'Existing',
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
