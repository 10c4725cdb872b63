import { z } from 'zod';
import { aclSchema, docIdSchema, isCollectionId, retrievalLimits, storableString } from './retrieval.ts';

/** Limits of grants; all are the service's own. */
export const grantLimits = {
  /** UTF-16 units of a user, an agent or a group. */
  holder: 512,
  /** Maximum number of grants of one collection, and of members of one group, because a list is answered as a whole. */
  listed: 1_000,
} as const;

const holder = (text: string) => storableString.min(1).max(grantLimits.holder).optional().describe(text);
const user_id = holder('`sub`, which belongs to the issuer of the caller, or `issuer|sub`.');
const agent_id = holder('An agent or an integration service: `sub`, or `issuer|sub`.');
const group = holder('The name of a group of the tenant.');

function hasOne(named: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.filter((name) => named[name] !== undefined).length === 1;
}

/** Body of POST /v1/collections/{collection_id}/readers (retrieval:readers:*). */
export const readerGrantSchema = z
  .strictObject({ user_id, agent_id })
  .refine((body) => hasOne(body, ['user_id', 'agent_id']), { error: 'must have exactly one of user_id and agent_id' })
  .meta({ description: 'The new reader: exactly one of user_id and agent_id.', minProperties: 1, maxProperties: 1 });

/** Body of the service's own operations that give and revoke grants. */
export const collectionGrantSchema = z
  .strictObject({ relation: z.enum(['reader', 'writer']), user_id, agent_id, group })
  .refine((body) => hasOne(body, ['user_id', 'agent_id', 'group']), {
    error: 'must have exactly one of user_id, agent_id and group',
  })
  .meta({
    description: 'A reader or writer: exactly one of user_id, agent_id and group.',
    minProperties: 2,
    maxProperties: 2,
  });

/** Body of the service's own operations that add and remove members of a group. */
export const groupMemberSchema = z
  .strictObject({ user_id, agent_id, group })
  .refine((body) => hasOne(body, ['user_id', 'agent_id', 'group']), {
    error: 'must have exactly one of user_id, agent_id and group',
  })
  .meta({ description: 'A member: exactly one of user_id, agent_id and group.', minProperties: 1, maxProperties: 1 });

/** Body of POST /v1/documents:acl, an operation of the service's own. */
export const documentAclSchema = z
  .strictObject({
    collection: storableString.min(1).max(retrievalLimits.name).describe('Name or id.'),
    doc_id: docIdSchema,
    acl: aclSchema,
  })
  .describe('The access list that replaces the one of a document.');

export const changedAclSchema = z
  .strictObject({ doc_id: z.string(), acl: aclSchema })
  .describe('The document and its access list.');

/** Body of POST /v1/collections/{collection_id}:move, an operation of the service's own. */
export const collectionMoveSchema = z
  .strictObject({
    parent_id: z
      .string()
      .refine(isCollectionId, { error: 'must be a UUID' })
      .transform((id) => id.toLowerCase())
      .meta({ type: 'string', format: 'uuid' })
      .nullable(),
  })
  .describe('The new parent, or null for none.');

const shown = {
  user_id: z.string().optional(),
  agent_id: z.string().optional(),
  group: z.string().optional().describe('A name too long for the store is shown as sha256 and its digest.'),
};

export const changedGrantSchema = z
  .strictObject({ relation: z.enum(['reader', 'writer', 'member']), ...shown })
  .describe('The relation that was given or taken, as the body named its holder.');

export const grantListSchema = z
  .strictObject({
    grants: z.array(z.strictObject({ relation: z.enum(['owner', 'reader', 'writer']), ...shown })),
  })
  .describe('Every grant of a collection. Users and agents of another issuer than that of the caller show it.');

export const memberListSchema = z
  .strictObject({ members: z.array(z.strictObject(shown)) })
  .describe('Every member of a group that the store of relations holds. Groups of tokens are not among them.');

export type Holder = Pick<z.output<typeof groupMemberSchema>, 'user_id' | 'agent_id' | 'group'>;
export type CollectionGrant = z.output<typeof grantListSchema>['grants'][number];
