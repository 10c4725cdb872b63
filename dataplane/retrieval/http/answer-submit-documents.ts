import { failure } from '#api/operation';
import { type CanonicalDocument, retrievalLimits, submitSchema } from '#contracts/retrieval';
import type { JsonValue } from '#kit/json/json-value';
import { documentLabels, isEmptyAcl } from '../access/document-labels.ts';
import { mayWrite } from '../access/permissions.ts';
import type { CollectionRecord } from '../collections/collection-record.ts';
import { isIndexRoomLeft } from '../ingest/submit/check-index-room.ts';
import { reachedQuota, type SubmitLimit } from '../ingest/submit/check-quota.ts';
import { withoutDuplicates } from '../ingest/submit/find-duplicates.ts';
import { stagedBytes } from '../ingest/submit/staged-document.ts';
import { type SubmittedDocument, submitDocuments } from '../ingest/submit/submit-documents.ts';
import { longTextOf } from '../ingest/text/content-parts.ts';
import type { DocumentContent } from '../ingest/text/document-content.ts';
import { findNamed } from './find-readable.ts';
import { noteDeletions } from './note-deletions.ts';
import { invalidBody, readRequest } from './read-request.ts';
import type { RetrievalError, RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Accepts a batch of documents as a whole or not at all. */
export async function answerSubmitDocuments(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller, traceId } = request;
  const read = readRequest(submitSchema, request.body);
  if (read.kind === 'error') return read;
  const { documents } = read.value;
  const written = writtenDocuments(request.body.json);
  if (documents.some((one) => one.tenant_id !== caller.tenant)) return failure('forbidden');
  const collections = new Map<string, CollectionRecord>();
  for (const named of new Set(documents.map(({ collection }) => collection))) {
    const found = await findNamed(request, named);
    if (found.kind === 'error') return found;
    if (!(await mayWrite(service.relations, caller, found.collection))) return failure('forbidden');
    collections.set(named, found.collection);
  }
  const submitted: SubmittedDocument[] = [];
  const referred = new Map<SubmittedDocument, number>();
  for (const [at, document] of documents.entries()) {
    const collection = collections.get(document.collection) as CollectionRecord;
    const problem = problemOf(document, written[at], at, collection);
    if (problem !== undefined) return problem;
    const one: SubmittedDocument = {
      collectionId: collection.collectionId,
      collection: document.collection,
      docId: document.doc_id,
      op: document.op,
      contentHash: document.content_hash,
      idempotencyKey: document.idempotency_key,
      labels: documentLabels(document.acl, collection, caller),
      payload: payloadOf(document),
    };
    submitted.push(one);
    referred.set(one, document.content_ref?.bytes ?? 0);
  }
  const reached = await reachedLimit(request, referred, [...collections.values()]);
  if (reached !== undefined) {
    service.onLimitReached(reached);
    return failure(reached === 'index' ? 'index_full' : 'rate_limited');
  }
  const { database, objects, newId, hint } = service;
  const jobs = await submitDocuments(
    { database, objects, newId, hint, onStep: () => undefined, noteDeletions: noteDeletions(request) },
    { tenant: caller.tenant, traceId, documents: submitted },
  );
  const body = {
    jobs: jobs.map(({ docId, jobId, status, isSuperseded }) => {
      return { doc_id: docId, job_id: jobId, status, ...(isSuperseded ? { superseded: true } : {}) };
    }),
  };
  return { kind: 'success', status: 202, body };
}

async function reachedLimit(
  { service, caller }: RetrievalRequest,
  /** Each document with the bytes of its content_ref, if the content_ref has the member `bytes`. */
  submitted: ReadonlyMap<SubmittedDocument, number>,
  collections: readonly CollectionRecord[],
): Promise<SubmitLimit | undefined> {
  const { sql } = service.database;
  // A repeated submit adds nothing and gets the same answer as the first submit.
  const additions = await withoutDuplicates(sql, [...submitted.keys()]);
  const referred = additions
    .filter(({ op }) => op === 'upsert')
    .reduce((sum, one) => sum + (submitted.get(one) ?? 0), 0);
  const quota = await reachedQuota(sql, caller.tenant, service.tenantQuota, additions, referred);
  if (quota !== undefined) return quota;
  const filled = new Set(additions.filter(({ op }) => op === 'upsert').map(({ collectionId }) => collectionId));
  const { embedding } = service.profiles();
  const added = collections
    .filter(({ collectionId }) => filled.has(collectionId))
    .map((one) => ({ ...one, dimension: embedding.get(one.embeddingProfileId)?.dimension ?? 0 }));
  return (await isIndexRoomLeft(sql, added, service.mostIndexBytes)) ? undefined : 'index';
}

/** The rules that depend on the collection, or on the size of the parts as JSON. */
function problemOf(
  document: CanonicalDocument,
  written: WrittenDocument | undefined,
  at: number,
  { visibility, emptyAclPolicy }: CollectionRecord,
): RetrievalError | undefined {
  const path = ['documents', at];
  if (document.op === 'delete') return undefined;
  if (visibility === 'private' && emptyAclPolicy === 'reject' && isEmptyAcl(document.acl)) {
    return invalidBody([
      { path: [...path, 'acl'], message: 'must name a group or a principal in this private collection' },
    ]);
  }
  const inline = sizeOf(written?.content);
  if (inline > retrievalLimits.inlineBytes) {
    const message = `has ${inline} bytes as JSON, at most ${retrievalLimits.inlineBytes} are allowed: use content_ref`;
    return invalidBody([{ path: [...path, 'content'], message }]);
  }
  const long = document.content === undefined ? undefined : longTextOf(document.content as DocumentContent);
  if (long !== undefined) return invalidBody([{ path: [...path, 'content', ...long.path], message: long.message }]);
  const metadata = sizeOf(written?.metadata);
  if (metadata > retrievalLimits.metadataBytes) {
    const message = `has ${metadata} bytes as JSON, at most ${retrievalLimits.metadataBytes} are allowed`;
    return invalidBody([{ path: [...path, 'metadata'], message }]);
  }
  return undefined;
}

type WrittenDocument = { readonly content?: unknown; readonly metadata?: unknown };

/** The documents of a valid body as they were sent: a limit also counts members that are not stored. */
function writtenDocuments(json: unknown): readonly WrittenDocument[] {
  return (json as { readonly documents: readonly WrittenDocument[] }).documents;
}

function sizeOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value));
}

/** The content of a delete is not checked (obligation retrieval:delete:content-never-blocks). */
function payloadOf({ op, content, content_ref, metadata }: CanonicalDocument): Uint8Array | undefined {
  if (op === 'delete') return undefined;
  return stagedBytes({
    content: content as JsonValue | undefined,
    content_ref: content_ref === undefined ? undefined : { uri: content_ref.uri },
    metadata: metadata as { readonly [key: string]: JsonValue } | undefined,
  });
}
