import { z } from 'zod';
import { failingProviderSchema } from './failing-provider.ts';
import { collectionSchema, createCollectionSchema, retrievalLimits } from './retrieval.ts';

const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\u0000]*$/, { error: 'must not contain U+0000' });

/** The manager of a collection: the UID of its resource. */
export const managerSchema = z.uuid();

const { collection_id: _id, parent_id: _parent, ...members } = createCollectionSchema.shape;

/**
 * Body of PUT on the internal address: the collection as its resource declares it. Repeating the request changes
 * nothing. `adopt`: an existing collection gets this manager if it has the given owner and no manager; the collection
 * is never created.
 */
export const ensureCollectionSchema = z
  .strictObject({
    manager: managerSchema,
    owner: z.strictObject({ issuer: text(retrievalLimits.principal), subject: text(retrievalLimits.principal) }),
    adopt: z.boolean(),
    collection: z.strictObject(members),
    parent_id: z
      .uuid()
      .nullable()
      .optional()
      .describe(
        'The collection above it, which the owner may write; null for the top level. Absent, its place is kept.',
      ),
  })
  .describe('A collection that a resource declares.');

export const managedCollectionLimits = { failingProviders: 8 } as const;

/** Answer of PUT on the internal address. */
export const managedCollectionSchema = z
  .strictObject({
    collection: collectionSchema,
    failing_providers: z
      .array(failingProviderSchema)
      .max(managedCollectionLimits.failingProviders)
      .optional()
      .describe('The rules whose detector or classifier does not judge, so that documents wait; absent without one.'),
  })
  .describe('A collection, and why its documents wait.');

/**
 * Answer of DELETE on the internal address: the collection was deleted by this request or earlier, or never existed.
 */
export const deletedCollectionSchema = z.strictObject({ deleted: z.literal(true) }).describe('A deleted collection.');

/**
 * Answer of DELETE of the manager: the collection is no longer managed by a resource, or this resource never managed
 * it.
 */
export const releasedCollectionSchema = z
  .strictObject({ released: z.literal(true) })
  .describe('A released collection.');

/** The member that a conflict of the internal address names. */
export const managedConflicts = {
  name: 'another collection of the tenant has this name',
  collection_id: 'the id belonged to a collection of another tenant, or to a deleted one',
  adopt: 'the tenant has no collection with this id that can be taken over',
  manager: 'the collection exists and this resource does not manage it',
  owner: 'the collection has another owner',
  children: 'the collection has others below it',
  parent_id: 'the tenant has no collection with this id that the owner may write',
  parent_tree: 'the collection would be below itself, or its tree would have more than 10 levels',
  embedding_profile_id: 'the index has no room for the longer vectors of the profile',
  collection_type: 'is fixed when a collection is created',
  acl_model: 'is fixed when a collection is created',
  chunking: 'is fixed when a collection is created',
} as const;

export type ManagedConflict = keyof typeof managedConflicts;
export type EnsureCollection = z.output<typeof ensureCollectionSchema>;
