import { failure } from '#api/operation';
import { reindexSchema } from '#contracts/retrieval';
import { mayWrite } from '../access/permissions.ts';
import { collectionOf } from '../collections/collection-record.ts';
import { startReindex } from '../ingest/reindex/start-reindex.ts';
import { findNamed } from './find-readable.ts';
import { hasRoomForProfile } from './has-room-for-profile.ts';
import { invalidBody, managedByResource, readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Starts a new index version while the active one serves. */
export async function reindexCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service, caller, path } = request;
  const read = readRequest(reindexSchema, request.body);
  if (read.kind === 'error') return read;
  const { embedding_profile_id: profile } = read.value;
  const found = await findNamed(request, path('collection_id'));
  if (found.kind === 'error') return found;
  const { collectionId, managedBy, embeddingProfileId, reindex } = found.collection;
  if (!(await mayWrite(service.relations, caller, found.collection))) return failure('forbidden');
  if (profile !== undefined && !service.profiles().embedding.has(profile)) {
    return invalidBody([{ path: ['embedding_profile_id'], message: 'is not an approved embedding profile' }]);
  }
  // The resource names the profile, and would revert the change.
  if (managedBy !== null && profile !== undefined && profile !== embeddingProfileId) {
    return failure('conflict', [managedByResource]);
  }
  const isBuilding = reindex?.state === 'building' && reindex.embedding_profile_id === profile;
  if (profile !== undefined && !isBuilding && !(await hasRoomForProfile(service, found.collection, profile))) {
    service.onLimitReached('index');
    return failure('index_full');
  }
  const started = await startReindex(service.database, collectionId, profile);
  if (started.kind === 'absent') return failure('not_found');
  if (started.kind === 'conflict') return failure('conflict');
  service.hint();
  const now = await findNamed(request, collectionId);
  return now.kind === 'error' ? now : { kind: 'success', status: 202, body: collectionOf(now.collection) };
}
