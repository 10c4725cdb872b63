import { failure } from '#api/operation';
import { mayWrite } from '../access/permissions.ts';
import { submitDocuments } from '../ingest/submit/submit-documents.ts';
import { findNamed } from './find-readable.ts';
import { noteDeletions } from './note-deletions.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/**
 * Submits the deletion of one document, as `"op": "delete"` does. The deletion supersedes earlier submits; a repeated
 * deletion has its own job and changes nothing.
 */
export async function deleteDocument(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller, traceId } = request;
  const named = await findNamed(request, request.path('collection_id'));
  if (named.kind === 'error') return named;
  const { collectionId } = named.collection;
  if (!(await mayWrite(service.relations, caller, named.collection))) return failure('forbidden');
  const docId = request.path('doc_id');
  const [known] = await service.database.sql`
    select from retrieval.documents where collection_id = ${collectionId} and doc_id = ${docId}`;
  if (known === undefined) return failure('not_found');
  const { database, objects, newId, hint } = service;
  const deletion = {
    collectionId,
    collection: collectionId,
    docId,
    op: 'delete',
    contentHash: '',
    idempotencyKey: newId(),
    labels: [],
    payload: undefined,
  } as const;
  const [entry] = await submitDocuments(
    { database, objects, newId, hint, onStep: () => undefined, noteDeletions: noteDeletions(request) },
    { tenant: caller.tenant, traceId, documents: [deletion] },
  );
  if (entry === undefined) throw new Error('a submit of one document has no entry');
  return { kind: 'success', status: 202, body: { doc_id: docId, job_id: entry.jobId, status: entry.status } };
}
