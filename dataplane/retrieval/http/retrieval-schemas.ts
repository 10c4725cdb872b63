import { z } from 'zod';
import { componentSchemas } from '#api/openapi';
import {
  collectionSchema,
  createCollectionSchema,
  healthSchema,
  ingestJobSchema,
  packedContextSchema,
  packRequestSchema,
  queryRequestSchema,
  queryResponseSchema,
  reindexSchema,
  retrievalErrorSchema,
  submitSchema,
  submittedSchema,
} from '#contracts/retrieval';
import {
  changedAclSchema,
  changedGrantSchema,
  collectionGrantSchema,
  collectionMoveSchema,
  documentAclSchema,
  grantListSchema,
  groupMemberSchema,
  memberListSchema,
  readerGrantSchema,
} from '#contracts/retrieval-grants';

const written = {
  CreateCollectionRequest: createCollectionSchema,
  SubmitDocumentsRequest: submitSchema,
  QueryRequest: queryRequestSchema,
  RetrieveAndPackRequest: packRequestSchema,
  ReindexRequest: reindexSchema,
  ReaderGrant: readerGrantSchema,
  CollectionGrant: collectionGrantSchema,
  CollectionMove: collectionMoveSchema,
  DocumentAclChange: documentAclSchema,
  GroupMember: groupMemberSchema,
} as const;

const read = {
  Collection: collectionSchema,
  CollectionList: z.array(collectionSchema).describe('Collections in the order of their names.'),
  SubmittedJobs: submittedSchema,
  IngestJob: ingestJobSchema,
  QueryResponse: queryResponseSchema,
  PackedContext: packedContextSchema,
  Grant: changedGrantSchema,
  GrantList: grantListSchema,
  DocumentAcl: changedAclSchema,
  MemberList: memberListSchema,
  Health: healthSchema,
  Error: retrievalErrorSchema,
} as const;

export type RetrievalSchema = keyof typeof written | keyof typeof read;

/** The schemas of all bodies by name, as components of the OpenAPI document. */
export function retrievalSchemas(): Readonly<Record<string, unknown>> {
  return componentSchemas({ written, read });
}
