import { type ApiTable, failure, type Parameter, success } from '#api/operation';
import { readGates, writeGates } from '#api/table-parts';
import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import { clientClassOf } from '#audit/client-class';
import type { AuditContent } from '#contracts/audit';
import {
  deletedCollectionSchema,
  ensureCollectionSchema,
  type ManagedConflict,
  managedCollectionSchema,
  managedConflicts,
  managerSchema,
  releasedCollectionSchema,
} from '#contracts/managed-collections';
import { retrievalLimits } from '#contracts/retrieval';
import { type RetrievalErrorCode, retrievalErrors } from '#contracts/retrieval-errors';
import { bearerToken } from '#kit/http/bearer';
import type { TokenFile } from '#kit/http/token-file';
import type { Tuple } from '#relations/ports';
import { userSubject } from '#relations/subject';
import { collectionObject } from '#relations/tenant-object';
import { grantEntries, type Note, operatorAuthor } from '../access/change-author.ts';
import { type CollectionRecord, collectionOf, findCollection } from '../collections/collection-record.ts';
import { deleteCollection } from '../collections/delete-collection.ts';
import { ensureCollection } from '../collections/ensure-collection.ts';
import { readFailingProviders } from '../collections/read-failing-providers.ts';
import { releaseCollection } from '../collections/release-collection.ts';
import { startReindex } from '../ingest/reindex/start-reindex.ts';
import { hasRoomForProfile } from './has-room-for-profile.ts';
import { collectionIdParameter } from './path-parameters.ts';
import { invalidBody, readRequest } from './read-request.ts';
import type { Retrieval, RetrievalResponse } from './retrieval.ts';
import { retrievalTable } from './retrieval-table.ts';

/** The holder of the service token, which acts for resources, not for a user. */
export type ServiceCaller = { readonly kind: 'service' };
export type InternalOperation = 'ensureCollection' | 'deleteCollection' | 'releaseCollection';
type InternalTable = ApiTable<Retrieval, ServiceCaller, RetrievalErrorCode, InternalOperation>;
type InternalRequest = Parameters<InternalTable['operations'][number]['run']>[0];

const path = '/internal/tenants/{tenant}/collections/{collection_id}';
/** Largest body in bytes: names, a description and settings. */
const bodyBytes = 65_536;
const { bodyMs, idempotencyKey } = retrievalTable.limits;

const tenant: Parameter<RetrievalErrorCode> = {
  name: 'tenant',
  in: 'path',
  description: 'The tenant.',
  required: true,
  schema: { type: 'string' },
  read: (text) => (text.length > 0 && text.length <= retrievalLimits.name && !text.includes('\0') ? text : undefined),
};
const manager: Parameter<RetrievalErrorCode> = {
  name: 'manager',
  in: 'query',
  description: 'The UID of the resource that manages the collection.',
  required: true,
  schema: { type: 'string', format: 'uuid' },
  read: (text) => (managerSchema.safeParse(text).success ? text : undefined),
};

/** Accepts the service token, and no token of a user. */
export function createServiceAuthorizer(tokens: TokenFile) {
  return {
    async authorize(rawHeaders: readonly string[]) {
      const bearer = bearerToken(rawHeaders);
      const caller = { kind: 'caller', caller: { kind: 'service' } } as const;
      return bearer.ok && tokens.accepts(bearer.token) ? caller : failure('unauthorized' as const);
    },
  };
}

/** Routes for collections that resources declare, with their own address and token. */
export const internalTable: InternalTable = {
  ...retrievalTable,
  operations: [
    {
      name: 'ensureCollection',
      method: 'PUT',
      path,
      tag: 'Internal',
      summary: 'Ensure a collection',
      description:
        'Creates the collection of a resource, changes what may change, and begins a reindex for another profile. A ' +
        'refused profile of an existing collection is answered after its other members are changed.',
      gates: writeGates,
      parameters: [tenant, collectionIdParameter],
      body: 'EnsureCollectionRequest',
      success: { status: 200, description: 'The collection.', schema: 'Collection', headers: [] },
      errors: ['conflict', 'unavailable'],
      obligations: [],
      run: ensure,
    },
    {
      name: 'deleteCollection',
      method: 'DELETE',
      path,
      tag: 'Internal',
      summary: 'Delete a collection',
      description: 'Deletes the collection of a resource with its documents and rights.',
      gates: readGates,
      parameters: [tenant, collectionIdParameter, manager],
      success: { status: 200, description: 'It is deleted.', schema: 'DeletedCollection', headers: [] },
      errors: ['conflict', 'unavailable'],
      obligations: [],
      run: remove,
    },
    {
      name: 'releaseCollection',
      method: 'DELETE',
      path: `${path}/manager`,
      tag: 'Internal',
      summary: 'Release a collection',
      description: 'Keeps the collection of a resource, which manages it no longer.',
      gates: readGates,
      parameters: [tenant, collectionIdParameter, manager],
      success: { status: 200, description: 'It is released.', schema: 'ReleasedCollection', headers: [] },
      errors: ['unavailable'],
      obligations: [],
      run: release,
    },
  ],
  errors: retrievalErrors,
  limits: { bodyBytes, bodyMs, idempotencyKey },
};

async function ensure(request: InternalRequest): Promise<RetrievalResponse> {
  const { service, path: at, body } = request;
  const read = readRequest(ensureCollectionSchema, body);
  if (read.kind === 'error') return read;
  const { collection, owner } = read.value;
  const [ofTenant, id] = [at('tenant'), at('collection_id')];
  const object = collectionObject(ofTenant, id);
  const release = await service.creations.acquire(AbortSignal.timeout(internalMs));
  try {
    const wanted = collection.embedding_profile_id;
    const before = await findCollection(service.database.sql, ofTenant, { id });
    const refusedProfile = await refusalOfProfile(service, before, wanted);
    // The other declared members of an existing collection are set first, so that a refused profile does not keep it
    // open to readers.
    if (refusedProfile !== undefined && before === undefined) return refusedProfile;
    const ensured = await ensureCollection(service, {
      ...read.value,
      tenant: ofTenant,
      collectionId: id,
      emptyAclPolicy: collection.empty_acl_policy ?? service.defaultEmptyAclPolicy,
      object,
      note: {
        create: noteOfTuples(request),
        move: entryOf(request, 'collection.move'),
        update: noteOf(request, 'collection.update'),
      },
      owned: { subject: userSubject(owner), relation: 'owner', object },
    });
    if (ensured.kind === 'conflict') return conflict(ensured.over);
    if (refusedProfile !== undefined) return refusedProfile;
    const { embeddingProfileId, reindex } = ensured.record;
    // A failed version of this profile is not started again automatically: an operator decides that.
    if (embeddingProfileId !== wanted && reindex?.embedding_profile_id !== wanted) {
      await startReindex(service.database, id, wanted);
      service.hint();
    }
    const now = await findCollection(service.database.sql, ofTenant, { id });
    const failing = await readFailingProviders(service.database, id);
    return success(
      managedCollectionSchema.parse({
        collection: collectionOf(now ?? ensured.record),
        ...(failing.length === 0 ? {} : { failing_providers: failing }),
      }),
    );
  } finally {
    release();
  }
}

/**
 * The reason why a collection cannot have the wanted profile; undefined if it can, or if a version with that profile is
 * being built.
 */
async function refusalOfProfile(
  service: Retrieval,
  present: CollectionRecord | undefined,
  wanted: string,
): Promise<RetrievalResponse | undefined> {
  if (!service.profiles().embedding.has(wanted)) {
    return invalidBody([{ path: ['embedding_profile_id'], message: 'is not an approved embedding profile' }]);
  }
  if (present === undefined || present.reindex?.embedding_profile_id === wanted) return undefined;
  return (await hasRoomForProfile(service, present, wanted)) ? undefined : conflict('embedding_profile_id');
}

/** Longest wait for a creation in progress, milliseconds. */
const internalMs = 10_000;

function conflict(over: ManagedConflict): RetrievalResponse {
  return failure('conflict', [{ path: `/${over}`, message: managedConflicts[over] }]);
}

const noManager = failure('invalid_document', [{ path: '/manager', message: 'is missing' }]);
const released = success(releasedCollectionSchema.parse({ released: true }));

/**
 * The answer is the same for a collection that another resource manages now, because this resource does not manage it.
 */
async function release({ service, path: at, query }: InternalRequest): Promise<RetrievalResponse> {
  const { manager: by } = query;
  if (by === undefined) return noManager;
  await releaseCollection(service.database, { tenant: at('tenant'), collectionId: at('collection_id'), manager: by });
  return released;
}

const deleted = success(deletedCollectionSchema.parse({ deleted: true }));

async function remove(request: InternalRequest): Promise<RetrievalResponse> {
  const { service, path: at, query } = request;
  const { manager: by } = query;
  if (by === undefined) return noManager;
  const [ofTenant, id] = [at('tenant'), at('collection_id')];
  const found = await findCollection(service.database.sql, ofTenant, { id });
  if (found === undefined) return deleted;
  if (found.managedBy !== by) return conflict('manager');
  const note = noteOf(request, 'collection.delete');
  const outcome = await deleteCollection(service.database, { tenant: ofTenant, collectionId: id, note });
  if (outcome === 'has_children') {
    return conflict('children');
  }
  service.hint();
  return deleted;
}

/** The holder of the service token is the operator, which acts for a resource. */
function entryOf(
  request: InternalRequest,
  action: 'collection.move' | 'collection.update' | 'collection.delete',
): AuditContent {
  const target = { type: 'collection', id: request.path('collection_id') } as const;
  return changeEntry({ action, target }, operatorOf(request), request.service.clock.date());
}

function noteOf(request: InternalRequest, action: 'collection.update' | 'collection.delete'): Note {
  return (sql) => request.service.audit.append(sql, [entryOf(request, action)]);
}

function noteOfTuples(request: InternalRequest): Note<readonly Tuple[]> {
  const { audit, clock } = request.service;
  return (sql, tuples) => audit.append(sql, grantEntries(tuples, operatorOf(request), clock.date()));
}

function operatorOf({ incoming, traceId }: InternalRequest): ChangeAuthor {
  const client = clientClassOf(incoming.socket.remoteAddress);
  return { author: operatorAuthor, client, traceId };
}
