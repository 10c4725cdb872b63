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
  submittedJobSchema,
  submittedSchema,
  updateCollectionSchema,
} from '#contracts/retrieval';
import { documentListSchema, documentSchema, jobListSchema } from '#contracts/retrieval-documents';
import { evaluationRequestSchema, evaluationSchema } from '#contracts/retrieval-evaluation';
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
import { clientMessageSchema, serverAnswerSchema } from '#mcp/message';

const written = {
  CreateCollectionRequest: createCollectionSchema,
  UpdateCollectionRequest: updateCollectionSchema,
  SubmitDocumentsRequest: submitSchema,
  QueryRequest: queryRequestSchema,
  RetrieveAndPackRequest: packRequestSchema,
  McpMessage: clientMessageSchema,
  EvaluationRequest: evaluationRequestSchema,
  ReindexRequest: reindexSchema,
  ReaderGrant: readerGrantSchema,
  CollectionGrant: collectionGrantSchema,
  CollectionMove: collectionMoveSchema,
  DocumentAclChange: documentAclSchema,
  GroupMember: groupMemberSchema,
} as const;

const read = {
  Collection: collectionSchema,
  CollectionList: z.array(collectionSchema).describe('Collections in the order of their names, compared byte by byte.'),
  SubmittedJobs: submittedSchema,
  SubmittedJob: submittedJobSchema,
  Document: documentSchema,
  DocumentList: documentListSchema,
  IngestJob: ingestJobSchema,
  IngestJobList: jobListSchema,
  QueryResponse: queryResponseSchema,
  McpAnswer: serverAnswerSchema,
  Evaluation: evaluationSchema,
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
