import { z } from 'zod';
import { codePoints } from '#contracts/code-points';
import { isCollectionId, retrievalLimits } from '#contracts/retrieval';
import { conditionsSchema, observedGenerationSchema, resourceSchema } from './metadata.ts';

const { chunkSize, chunkOverlap, topK } = retrievalLimits;
const maxInt32 = 2_147_483_647;

/** The retrieval service counts UTF-16 units, of which a character has at most two. */
const half = (units: number): number => Math.floor(units / 2);
const line = (max: number) =>
  codePoints(1, max).regex(/^[^\p{Cc}\p{Zl}\p{Zp}]+$/u, 'must be one line without control characters');
const profile = () => line(half(retrievalLimits.name));
const count = () => z.int().min(0).max(maxInt32);

const collectionSpecSchema = z.strictObject({
  tenant: line(half(retrievalLimits.name)).describe('tenant is a tenant that the installation approves for resources.'),
  owner: z
    .strictObject({
      issuer: line(half(retrievalLimits.principal)).describe('issuer is the issuer of the tokens of the owner.'),
      subject: line(half(retrievalLimits.principal)).describe('subject is the subject of the tokens of the owner.'),
    })
    .describe('owner is the user who owns the collection and gives rights on it.'),
  source: z
    .discriminatedUnion('mode', [
      z.strictObject({
        mode: z
          .literal('New')
          .describe('mode New creates a collection, mode Existing takes over one that no resource manages.'),
      }),
      z.strictObject({
        mode: z.literal('Existing').describe('mode Existing takes over a collection.'),
        collectionId: z.uuid().max(36).describe('collectionId is the id of the collection to take over.'),
      }),
    ])
    .describe('source indicates whether the collection is created, or exists and is taken over.'),
  parent: z
    .discriminatedUnion('mode', [
      z.strictObject({
        mode: z
          .literal('None')
          .describe('mode None keeps the collection at the top level, mode Below keeps it below another one.'),
      }),
      z.strictObject({
        mode: z.literal('Below').describe('mode Below keeps the collection below another one.'),
        collectionId: z
          .uuid()
          .max(36)
          .describe('collectionId is the id of a collection of the tenant that the owner may write.'),
      }),
    ])
    .optional()
    .describe(
      'parent is the place of the collection, whose readers and writers have the same rights on it; when absent, the place is set over HTTP only.',
    ),
  name: line(half(retrievalLimits.name))
    .refine((name) => !isCollectionId(name), 'must not have the form of a UUID')
    .describe('name is the name of the collection, unique in its tenant.'),
  description: codePoints(0, half(retrievalLimits.description))
    .optional()
    .describe('description describes the content of the collection.'),
  type: z.enum(['KnowledgeBase', 'Documents', 'Files']).describe('type is the collection_type of the collection.'),
  visibility: z
    .enum(['Private', 'Public'])
    .describe('visibility Public lets every user of the tenant find the collection.'),
  embeddingProfile: profile().describe('embeddingProfile names an approved profile; a change begins a reindex.'),
  aclModel: z
    .enum(['Document', 'Collection'])
    .describe('aclModel indicates whether documents have access lists or share the rights of the collection.'),
  chunking: z
    .strictObject({
      size: z
        .int()
        .min(chunkSize.min)
        .max(chunkSize.max)
        .describe('size is the largest length of a chunk in characters.'),
      overlap: z
        .int()
        .min(chunkOverlap.min)
        .max(half(chunkSize.max))
        .describe('overlap is the length that two chunks share, at most half of size.'),
    })
    .refine(({ size, overlap }) => overlap * 2 <= size, {
      path: ['overlap'],
      error: 'overlap is at most half of size',
    })
    .describe('chunking divides documents into chunks.'),
  retrievalDefaults: z
    .strictObject({
      mode: z
        .enum(['Hybrid', 'Vector', 'Terms'])
        .optional()
        .describe('mode is the mode of a query that names none; Terms is bm25 over HTTP.'),
      results: z
        .int()
        .min(topK.min)
        .max(topK.max)
        .optional()
        .describe('results is the top_k of a query that names none.'),
      rerankProfile: profile().optional().describe('rerankProfile names the profile with which a query is reranked.'),
    })
    .optional()
    .describe('retrievalDefaults hold for queries that do not say otherwise.'),
  emptyAclPolicy: z
    .enum(['Reject', 'Strictest'])
    .optional()
    .describe(
      'emptyAclPolicy applies to documents without an access list; the setting of the installation is the default.',
    ),
  deletionPolicy: z
    .enum(['Retain', 'Delete'])
    .describe('deletionPolicy Retain keeps the collection when the resource is deleted, Delete removes its documents.'),
});

const collectionStatusSchema = z.strictObject({
  conditions: conditionsSchema,
  observedGeneration: observedGenerationSchema,
  collectionId: z.string().max(64).optional().describe('collectionId is the id of the collection over HTTP.'),
  state: z
    .enum(['Created', 'Populating', 'Ready', 'Error'])
    .optional()
    .describe('state is the status of the collection; it is Ready when documents are indexed.'),
  activeVersion: z.int().min(1).max(maxInt32).optional().describe('activeVersion is the version that answers queries.'),
  embeddingProfile: profile().optional().describe('embeddingProfile is the profile of the active version.'),
  parentId: z.string().max(64).optional().describe('parentId is the id of the collection above it.'),
  documents: count().optional().describe('documents is the number of documents.'),
  chunks: count().optional().describe('chunks is the number of chunks.'),
  reindex: z
    .strictObject({
      version: z
        .int()
        .min(1)
        .max(maxInt32)
        .describe('version is the version that is being built while the active one serves.'),
      embeddingProfile: profile().describe('embeddingProfile is its profile.'),
      state: z.enum(['Building', 'Failed']).describe('state is Building until the version is active or has failed.'),
      documentsDone: count().describe('documentsDone is the number of documents that are in the version.'),
      documentsTotal: count().describe('documentsTotal is the number of documents that it will have.'),
      failure: z.string().max(512).optional().describe('failure is why the version failed.'),
    })
    .optional()
    .describe('reindex is the newest version while it is built, or if it failed.'),
});

export const collectionResourceSchema = resourceSchema('Collection', collectionSpecSchema, collectionStatusSchema);

export type CollectionSpec = z.infer<typeof collectionSpecSchema>;
export type CollectionStatus = z.infer<typeof collectionStatusSchema>;
export type CollectionResource = z.infer<typeof collectionResourceSchema>;
