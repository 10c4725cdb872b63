import { failure } from '#api/operation';
import { changeEntry } from '#audit/change-entry';
import type { Note } from '../access/change-author.ts';
import { owns } from '../access/permissions.ts';
import { collectionOf } from '../collections/collection-record.ts';
import { deleteCollection } from '../collections/delete-collection.ts';
import { authorOfRequest } from './author-of-request.ts';
import { findNamed } from './find-readable.ts';
import { managedByResource } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Deletes a collection of the caller. No later request finds it or its documents. */
export async function answerDeleteCollection(request: RetrievalRequest): Promise<RetrievalResponse> {
  const found = await findNamed(request, request.path('collection_id'));
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  const { collection } = found;
  if (!(await owns(service.relations, caller, collection))) return failure('forbidden');
  if (collection.managedBy !== null) return failure('conflict', [managedByResource]);
  const { tenant, collectionId } = collection;
  const change = { action: 'collection.delete', target: { type: 'collection', id: collectionId } } as const;
  const entry = changeEntry(change, authorOfRequest(request), service.clock.date());
  const note: Note = (sql) => service.audit.append(sql, [entry]);
  switch (await deleteCollection(service.database, { tenant, collectionId, note })) {
    case 'not_found':
      return failure('not_found');
    case 'has_children':
      return failure('conflict', [{ path: 'collection_id', message: 'names a collection with others below it' }]);
    case 'deleted':
      service.hint();
      return { kind: 'success', status: 202, body: { ...collectionOf(collection), status: 'deleted' } };
  }
}
