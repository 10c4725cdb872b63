import type { ApiOperation, Parameter } from '#api/operation';
import { readGates, tracedAnswer } from '#api/table-parts';
import { fitsBytes, retrievalLimits } from '#contracts/retrieval';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';
import { memberParameters } from '#identity/caller-parameters';
import type { TenantCaller } from '#identity/tenant-caller';
import { answerListDocuments } from './answer-list-documents.ts';
import { answerReplayJob } from './answer-replay-job.ts';
import { deleteDocument } from './delete-document.ts';
import { getDocument } from './get-document.ts';
import { jobStates } from './job-record.ts';
import { listJobs } from './list-jobs.ts';
import { documentPages, jobPages } from './page-parameters.ts';
import { collectionIdParameter, jobIdParameter } from './path-parameters.ts';
import type { Retrieval } from './retrieval.ts';
import type { RetrievalSchema } from './retrieval-schemas.ts';

export const documentOperationNames = [
  'listDocuments',
  'getDocument',
  'deleteDocument',
  'listJobs',
  'replayJob',
] as const;
type DocumentOperation = (typeof documentOperationNames)[number];

type Row = Omit<ApiOperation<Retrieval, TenantCaller, RetrievalErrorCode, DocumentOperation>, 'body'>;
type OneParameter = Parameter<RetrievalErrorCode>;

const docId: OneParameter = {
  name: 'doc_id',
  in: 'path',
  description: 'The id of the document, at most 1,024 bytes in UTF-8; a slash in it is written as %2F.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: retrievalLimits.docIdBytes },
  read: (text) => (fitsBytes(text, retrievalLimits.docIdBytes) && text.isWellFormed() ? text : undefined),
};
const ofCollection: OneParameter = {
  name: 'collection',
  in: 'query',
  description: 'Name or id of the collection.',
  required: true,
  schema: { type: 'string', minLength: 1, maxLength: retrievalLimits.name },
  read: (text) => (text.length > 0 && text.length <= retrievalLimits.name ? text : undefined),
};
const state: OneParameter = {
  name: 'state',
  in: 'query',
  description: 'Only jobs in this state; DEAD_LETTER: FAILED because no delivery was answered.',
  required: false,
  schema: { type: 'string', enum: [...jobStates] },
  read: (text) => jobStates.find((one) => one === text),
};

const errors = ['forbidden', 'not_found', 'unavailable'] as const;
const common = { gates: readGates, tag: 'Documents', obligations: [] } as const;
const answer = tracedAnswer<RetrievalSchema, 200 | 202>;

/** Operations on stored documents and on jobs; all of them extend the contract. */
export const documentOperations: readonly Row[] = [
  {
    ...common,
    name: 'listDocuments',
    method: 'GET',
    path: '/v1/collections/{collection_id}/documents',
    summary: 'List documents',
    description:
      'The documents of the collection that the caller may see now, without their text. A writer of the ' +
      'collection sees all of them.',
    parameters: [collectionIdParameter, ...documentPages, ...memberParameters],
    success: answer('DocumentList'),
    errors,
    run: answerListDocuments,
  },
  {
    ...common,
    name: 'getDocument',
    method: 'GET',
    path: '/v1/collections/{collection_id}/documents/{doc_id}',
    summary: 'Read a document',
    description: 'One document without its text. A document that the caller may not see now is absent.',
    parameters: [collectionIdParameter, docId, ...memberParameters],
    success: answer('Document'),
    errors,
    run: getDocument,
  },
  {
    ...common,
    name: 'deleteDocument',
    method: 'DELETE',
    path: '/v1/collections/{collection_id}/documents/{doc_id}',
    summary: 'Delete a document',
    description:
      'Submits a deletion. It supersedes every earlier submit of the document. Searches stop returning the document ' +
      'when the job is DONE.',
    parameters: [collectionIdParameter, docId, ...memberParameters],
    success: answer('SubmittedJob', 202),
    errors,
    run: deleteDocument,
  },
  {
    ...common,
    name: 'listJobs',
    method: 'GET',
    path: '/v1/jobs',
    summary: 'List jobs',
    description: 'The jobs of one collection, the newest first. Needs the right to write into it.',
    parameters: [ofCollection, state, ...jobPages, ...memberParameters],
    success: answer('IngestJobList'),
    errors,
    run: listJobs,
  },
  {
    ...common,
    name: 'replayJob',
    method: 'POST',
    path: '/v1/jobs/{job_id}:replay',
    summary: 'Replay a job',
    description:
      'Gives a FAILED job, a dead letter included, new deliveries under its id. If a later job of the document took ' +
      'effect meanwhile, it ends DONE and changes nothing.',
    parameters: [jobIdParameter, ...memberParameters],
    success: answer('IngestJob', 202),
    errors: [...errors, 'conflict'],
    run: answerReplayJob,
  },
];
