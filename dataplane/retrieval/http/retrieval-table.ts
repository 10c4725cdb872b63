import { type ApiOperation, type ApiTable, success } from '#api/operation';
import { readGates, tracedAnswer, tracedErrors, usualFaults, writeGates } from '#api/table-parts';
import { retrievalLimits } from '#contracts/retrieval';
import { type RetrievalErrorCode, retrievalErrors } from '#contracts/retrieval-errors';
import { memberParameters } from '#identity/caller-parameters';
import { keyOfUser } from '#identity/key-of-user';
import type { TenantCaller } from '#identity/tenant-caller';
import { versionParameter } from '#mcp/check-headers';
import { answerCreateCollection } from './answer-create-collection.ts';
import { answerDeleteCollection } from './answer-delete-collection.ts';
import { answerListCollections } from './answer-list-collections.ts';
import { answerMcp } from './answer-mcp.ts';
import { answerSubmitDocuments } from './answer-submit-documents.ts';
import { answerUpdateCollection } from './answer-update-collection.ts';
import { documentOperationNames, documentOperations } from './document-operations.ts';
import { evaluate } from './evaluate.ts';
import { getCollection } from './get-collection.ts';
import { getJob } from './get-job.ts';
import { grantOperationNames, grantOperations } from './grant-operations.ts';
import { collectionPages } from './page-parameters.ts';
import { collectionIdParameter, jobIdParameter } from './path-parameters.ts';
import { query } from './query.ts';
import { reindexCollection } from './reindex-collection.ts';
import type { Retrieval } from './retrieval.ts';
import type { RetrievalSchema } from './retrieval-schemas.ts';
import { retrieveAndPack } from './retrieve-and-pack.ts';

export const retrievalOperationNames = [
  'createCollection',
  'listCollections',
  'getCollection',
  'updateCollection',
  'deleteCollection',
  'reindexCollection',
  'submitDocuments',
  'getJob',
  'query',
  'retrieveAndPack',
  'evaluate',
  'answerMcp',
  'getHealth',
  ...documentOperationNames,
  ...grantOperationNames,
] as const;
export type RetrievalOperation = (typeof retrievalOperationNames)[number];

type Row = ApiOperation<Retrieval, TenantCaller, RetrievalErrorCode, RetrievalOperation> & {
  readonly body?: RetrievalSchema;
};

const answer = tracedAnswer<RetrievalSchema, 200 | 201 | 202>;
const everyWrite: readonly RetrievalErrorCode[] = ['unsupported_media_type', 'too_large', 'forbidden', 'unavailable'];
const everySearch: readonly RetrievalErrorCode[] = [...everyWrite, 'not_found'];

const operations: readonly Row[] = [
  {
    name: 'createCollection',
    method: 'POST',
    path: '/v1/collections',
    tag: 'Collections',
    summary: 'Create a collection',
    description: 'The calling user becomes the owner. The embedding profile must be approved in the environment.',
    gates: writeGates,
    parameters: memberParameters,
    body: 'CreateCollectionRequest',
    success: answer('Collection', 201),
    errors: [...everyWrite, 'conflict', 'rate_limited'],
    obligations: ['retrieval:collections-create:created', 'retrieval:collections-create:caller-owner'],
    run: answerCreateCollection,
  },
  {
    name: 'listCollections',
    method: 'GET',
    path: '/v1/collections',
    tag: 'Collections',
    summary: 'List collections',
    description:
      'The collections that the caller may read, public ones of the tenant included. The parameters of the query are the ' +
      'service’s own.',
    gates: readGates,
    parameters: [...collectionPages, ...memberParameters],
    success: answer('CollectionList'),
    errors: ['forbidden', 'unavailable'],
    obligations: ['retrieval:collections-list:ok', 'retrieval:collections-list:available'],
    run: answerListCollections,
  },
  {
    name: 'getCollection',
    method: 'GET',
    path: '/v1/collections/{collection_id}',
    tag: 'Collections',
    summary: 'Read a collection',
    description: 'State, counts and the active index version. A collection of another tenant is absent.',
    gates: readGates,
    parameters: [collectionIdParameter, ...memberParameters],
    success: answer('Collection'),
    errors: ['forbidden', 'not_found', 'unavailable'],
    obligations: ['retrieval:collections-get:ok', 'retrieval:collections-get:unknown'],
    run: getCollection,
  },
  {
    name: 'updateCollection',
    method: 'PATCH',
    path: '/v1/collections/{collection_id}',
    tag: 'Collections',
    summary: 'Change a collection',
    description:
      'Name, description, visibility, defaults and the policy for empty access lists. Only for the owner. A private ' +
      'collection that becomes public shows its documents by their own access lists. The operation is the service’s own.',
    gates: writeGates,
    parameters: [collectionIdParameter, ...memberParameters],
    body: 'UpdateCollectionRequest',
    success: answer('Collection'),
    errors: [...everySearch, 'conflict'],
    obligations: [],
    run: answerUpdateCollection,
  },
  {
    name: 'deleteCollection',
    method: 'DELETE',
    path: '/v1/collections/{collection_id}',
    tag: 'Collections',
    summary: 'Delete a collection',
    description:
      'No later request finds the collection or its documents; its contents are removed in the background. Only for the ' +
      'owner, and only without collections below it. The id is not used again. The operation is the service’s own.',
    gates: readGates,
    parameters: [collectionIdParameter, ...memberParameters],
    success: answer('Collection', 202),
    errors: ['forbidden', 'not_found', 'conflict', 'unavailable'],
    obligations: [],
    run: answerDeleteCollection,
  },
  {
    name: 'reindexCollection',
    method: 'POST',
    path: '/v1/collections/{collection_id}:reindex',
    tag: 'Collections',
    summary: 'Build a new index version',
    description:
      'Builds a new version of the index with the same or another approved profile, then switches to it in one step. The ' +
      'active version answers until then; `reindex` of the collection shows the progress. Without a body, the profile is unchanged. ' +
      'A profile of longer vectors is refused where the index has no room for them.',
    gates: writeGates,
    parameters: [collectionIdParameter, ...memberParameters],
    body: 'ReindexRequest',
    isBodyOptional: true,
    success: answer('Collection', 202),
    errors: [...everySearch, 'conflict', 'index_full'],
    obligations: ['retrieval:reindex:accepted', 'retrieval:reindex:new-version', 'retrieval:reindex:old-version-stays'],
    run: reindexCollection,
  },
  {
    name: 'submitDocuments',
    bodyBytes: retrievalLimits.bodyBytes,
    method: 'POST',
    path: '/v1/documents:submit',
    tag: 'Documents',
    summary: 'Submit documents',
    description:
      'Accepts a batch as a whole or not at all; one invalid document refuses it. 202 says that the jobs are registered: ' +
      'read each job to learn when its document can be found.',
    gates: writeGates,
    parameters: memberParameters,
    body: 'SubmitDocumentsRequest',
    success: answer('SubmittedJobs', 202),
    errors: [...everySearch, 'index_full', 'rate_limited'],
    obligations: ['retrieval:submit:accepted', 'retrieval:submit:acceptance-only'],
    run: answerSubmitDocuments,
  },
  {
    name: 'getJob',
    method: 'GET',
    path: '/v1/jobs/{job_id}',
    tag: 'Documents',
    summary: 'Read a job',
    description: 'How far the ingestion of one document is. Needs the right to write into its collection.',
    gates: readGates,
    parameters: [jobIdParameter, ...memberParameters],
    success: answer('IngestJob'),
    errors: ['forbidden', 'not_found', 'unavailable'],
    obligations: ['retrieval:jobs-get:ok', 'retrieval:jobs-get:unknown'],
    run: getJob,
  },
  {
    name: 'query',
    method: 'POST',
    path: '/v1/query',
    tag: 'Search',
    summary: 'Search a collection',
    description:
      'Citations of the chunks that the user may read now, best first. Rights are checked at each request; an answer has no ' +
      'text, title, number or score of a document that the user may not read. With OpenSearch the words of such documents ' +
      'count for the order of a ranking by words.',
    gates: writeGates,
    parameters: memberParameters,
    body: 'QueryRequest',
    success: answer('QueryResponse'),
    errors: everySearch,
    obligations: ['retrieval:query:ok', 'retrieval:query:acl-filter', 'retrieval:query:tenant-filter'],
    run: query,
  },
  {
    name: 'retrieveAndPack',
    method: 'POST',
    path: '/v1/retrieve_and_pack',
    tag: 'Search',
    summary: 'Search and pack',
    description: 'Searches like query and packs the result into at most token_budget tokens (o200k_base).',
    gates: writeGates,
    parameters: memberParameters,
    body: 'RetrieveAndPackRequest',
    success: answer('PackedContext'),
    errors: everySearch,
    obligations: ['retrieval:pack:ok', 'retrieval:pack:acl-filter', 'retrieval:pack:tenant-filter'],
    run: retrieveAndPack,
  },
  {
    name: 'evaluate',
    bodyBytes: retrievalLimits.bodyBytes,
    method: 'POST',
    path: '/v1/evaluations',
    tag: 'Search',
    summary: 'Measure the search',
    description:
      'Runs judged queries with the rights of the caller and returns nDCG, recall, MRR and durations of each mode. A ' +
      'document that the caller may not read counts as not found. Five chunks are read for each document that counts, ' +
      'at most 100, so that documents with very many chunks can displace others. The operation is the service’s own.',
    gates: writeGates,
    parameters: memberParameters,
    body: 'EvaluationRequest',
    success: answer('Evaluation'),
    errors: everySearch,
    obligations: ['retrieval:surface:eval'],
    run: evaluate,
  },
  {
    name: 'answerMcp',
    method: 'POST',
    path: '/v1/mcp',
    tag: 'Search',
    summary: 'Answer an MCP client',
    description:
      'One message of the Model Context Protocol 2025-11-25 (Streamable HTTP, without sessions and streams). The tools ' +
      'list_collections, search_documents and pack_documents have the identity, rights and limits of the other ' +
      'operations. Requests with an Origin header, as web pages send them, are refused. The operation is the service’s own.',
    gates: writeGates,
    parameters: [versionParameter, ...memberParameters],
    body: 'McpMessage',
    success: { ...answer('McpAnswer'), orAccepted: 'The message was a notification or an answer, and has no answer.' },
    errors: everySearch,
    obligations: [],
    run: answerMcp,
  },
  {
    name: 'getHealth',
    method: 'GET',
    path: '/health',
    tag: 'Health',
    summary: 'Read the state of the dependencies',
    description: '200 in both states; components have the names of the contract, details say what is in use.',
    gates: ['query'],
    public: true,
    parameters: [],
    success: answer('Health'),
    errors: [],
    obligations: ['retrieval:health:no-auth', 'retrieval:health:components', 'retrieval:health:details'],
    run: async ({ service }) => success(await service.health()),
  },
  ...documentOperations,
  ...grantOperations,
];

export const retrievalTable: ApiTable<Retrieval, TenantCaller, RetrievalErrorCode, RetrievalOperation> = {
  operations,
  errors: retrievalErrors,
  everyError: ['invalid_document', 'unauthorized', 'authz_unavailable', 'method_not_allowed', 'internal'],
  faults: usualFaults('invalid_document'),
  ...tracedErrors,
  limits: {
    bodyBytes: retrievalLimits.smallBodyBytes,
    bodyMs: 60_000,
    heldBodies: { bytes: 96 * 1_024 * 1_024, overloaded: 'unavailable', keyOf: keyOfUser },
    idempotencyKey: { min: 1, max: 1 },
  },
};
