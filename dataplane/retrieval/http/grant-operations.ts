import type { ApiOperation, Parameter } from '#api/operation';
import { readGates, tracedAnswer, writeGates } from '#api/table-parts';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';
import { grantLimits } from '#contracts/retrieval-grants';
import { memberParameters } from '#identity/caller-parameters';
import type { TenantCaller } from '#identity/tenant-caller';
import { answerMoveCollection } from './answer-move-collection.ts';
import { changeDocumentAcl } from './change-document-acl.ts';
import { giveGrant, grantReader, listGrants, revokeGrant } from './collection-grants.ts';
import { addMember, listMembers, removeMember } from './group-members.ts';
import { collectionIdParameter } from './path-parameters.ts';
import type { Retrieval } from './retrieval.ts';
import type { RetrievalSchema } from './retrieval-schemas.ts';

export const grantOperationNames = [
  'grantReader',
  'listGrants',
  'giveGrant',
  'revokeGrant',
  'moveCollection',
  'changeDocumentAcl',
  'listMembers',
  'addMember',
  'removeMember',
] as const;
type GrantOperation = (typeof grantOperationNames)[number];

type Row = ApiOperation<Retrieval, TenantCaller, RetrievalErrorCode, GrantOperation> & {
  readonly body?: RetrievalSchema;
};

const group: Parameter<RetrievalErrorCode> = {
  name: 'group',
  in: 'path',
  description: 'The name of a group of the tenant.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: grantLimits.holder },
  read: (text) => (text.length > 0 && text.length <= grantLimits.holder && text.isWellFormed() ? text : undefined),
};

const read = { gates: readGates, errors: ['forbidden', 'not_found'] } as const;
const write = {
  gates: writeGates,
  errors: ['unsupported_media_type', 'too_large', 'forbidden', 'not_found', 'unavailable'],
} as const;
const answer = tracedAnswer<RetrievalSchema>;

const ofCollection = { tag: 'Rights', parameters: [collectionIdParameter, ...memberParameters], obligations: [] };
const ofGroup = { tag: 'Rights', parameters: [group, ...memberParameters], obligations: [] };

/** Operations on rights. All except grantReader extend the contract. */
export const grantOperations: readonly Row[] = [
  {
    ...{ ...ofCollection, ...write, name: 'grantReader', method: 'POST' },
    path: '/v1/collections/{collection_id}/readers',
    summary: 'Let a user or an agent read',
    description:
      'Only the owner can grant. A grant to an agent opens the collection; the rights of the user decide which chunks it returns.',
    body: 'ReaderGrant',
    success: answer('Grant'),
    obligations: ['retrieval:readers:user', 'retrieval:readers:agent', 'retrieval:readers:owner-only'],
    run: grantReader,
  },
  {
    ...{ ...ofCollection, ...read, name: 'listGrants', method: 'GET' },
    path: '/v1/collections/{collection_id}/grants',
    summary: 'List owners, writers and readers',
    description: 'Only the owner can list grants. Rights that are inherited from a parent collection are not listed.',
    success: answer('GrantList'),
    run: listGrants,
  },
  {
    ...{ ...ofCollection, ...write, name: 'giveGrant', method: 'POST' },
    path: '/v1/collections/{collection_id}/grants',
    summary: 'Let a user, an agent or a group read or write',
    description: 'Only the owner can grant. Granting an existing right changes nothing.',
    body: 'CollectionGrant',
    success: answer('Grant'),
    run: giveGrant,
  },
  {
    ...{ ...ofCollection, ...write, name: 'revokeGrant', method: 'POST' },
    path: '/v1/collections/{collection_id}/grants:revoke',
    summary: 'Revoke the right to read or write',
    description:
      'Only the owner can revoke. The right ends with the next request. Revoking an absent right changes nothing.',
    body: 'CollectionGrant',
    success: answer('Grant'),
    run: revokeGrant,
  },
  {
    ...{ ...ofCollection, ...write, name: 'moveCollection', method: 'POST' },
    errors: [...write.errors, 'conflict'],
    path: '/v1/collections/{collection_id}:move',
    summary: 'Put a collection below another one',
    description:
      'Only the owner can move a collection, below one that the caller may write. Readers of a parent can read its children. ' +
      'A collection cannot be moved over HTTP if its resource declares spec.parent. After a move without an answer of ' +
      'OpenFGA, moves of the tenant are answered 503 for up to half a minute, and after a rollback until a move that the ' +
      'newer release stored is settled.',
    body: 'CollectionMove',
    success: answer('Collection'),
    run: answerMoveCollection,
  },
  {
    ...{
      ...write,
      name: 'changeDocumentAcl',
      method: 'POST',
      tag: 'Rights',
      parameters: memberParameters,
      obligations: [],
    },
    path: '/v1/documents:acl',
    summary: 'Replace the access list of a document',
    description:
      'Needs the right to write. The list takes effect at once, also for upserts that are still being ingested.',
    body: 'DocumentAclChange',
    success: answer('DocumentAcl'),
    run: changeDocumentAcl,
  },
  {
    ...{ ...ofGroup, ...read, name: 'listMembers', method: 'GET' },
    path: '/v1/groups/{group}/members',
    summary: 'List the members of a group',
    description: 'Needs the permission to administer. Groups that tokens name have members that are not listed.',
    success: answer('MemberList'),
    run: listMembers,
  },
  {
    ...{ ...ofGroup, ...write, name: 'addMember', method: 'POST' },
    path: '/v1/groups/{group}/members',
    summary: 'Add a member to a group',
    description: 'Needs the permission to administer. A member is a user, an agent, or the members of another group.',
    body: 'GroupMember',
    success: answer('Grant'),
    run: addMember,
  },
  {
    ...{ ...ofGroup, ...write, name: 'removeMember', method: 'POST' },
    path: '/v1/groups/{group}/members:remove',
    summary: 'Remove a member from a group',
    description: 'Needs the permission to administer. Rights of the group end with the next request.',
    body: 'GroupMember',
    success: answer('Grant'),
    run: removeMember,
  },
];
