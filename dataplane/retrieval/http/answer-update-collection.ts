import { failure, success } from '#api/operation';
import { changeEntry } from '#audit/change-entry';
import { updateCollectionSchema } from '#contracts/retrieval';
import type { Note } from '../access/change-author.ts';
import { owns } from '../access/permissions.ts';
import { collectionOf } from '../collections/collection-record.ts';
import { updateCollection } from '../collections/update-collection.ts';
import { authorOfRequest } from './author-of-request.ts';
import { findNamed } from './find-readable.ts';
import { managedByResource, readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Changes the mutable members of a collection of the caller. */
export async function answerUpdateCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(updateCollectionSchema, request.body);
  if (read.kind === 'error') return read;
  const found = await findNamed(request, request.path('collection_id'));
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  if (!(await owns(service.relations, caller, found.collection))) return failure('forbidden');
  if (found.collection.managedBy !== null) return failure('conflict', [managedByResource]);
  const { tenant, collectionId } = found.collection;
  const changed = { action: 'collection.update', target: { type: 'collection', id: collectionId } } as const;
  const entry = changeEntry(changed, authorOfRequest(request), service.clock.date());
  const note: Note = (sql) => service.audit.append(sql, [entry]);
  switch (await updateCollection(service.database, { tenant, collectionId, note }, read.value)) {
    case 'not_found':
      return failure('not_found');
    case 'taken':
      return failure('conflict', [{ path: 'name', message: 'is the name of another collection' }]);
    case 'updated': {
      const now = await findNamed(request, collectionId);
      return now.kind === 'error' ? now : success(collectionOf(now.collection));
    }
  }
}
