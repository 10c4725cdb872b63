import { userWrites, visibleLabels } from '../access/permissions.ts';
import type { CollectionRecord } from '../collections/collection-record.ts';
import type { DocumentSelection } from '../query/list-documents.ts';
import { findNamed, findReadable } from './find-readable.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

type Selected = DocumentSelection & { readonly kind: 'selected'; readonly collection: CollectionRecord };

/**
 * The documents of the collection in the path that the caller may see, by rights that are read for this request: every document if
 * the user may write the collection. An agent with the right to write gets the documents that its user may see.
 */
export async function selectDocuments(request: RetrievalRequest): Promise<Selected | RetrievalError> {
  const { service, caller } = request;
  const named = await findNamed(request, request.path('collection_id'));
  if (named.kind === 'error') return named;
  const { collection } = named;
  const { tenant, collectionId } = collection;
  if (await userWrites(service.relations, caller, collection)) {
    return { kind: 'selected', collection, isWriter: true, visibility: { tenant, collectionId, labels: 'every' } };
  }
  const readable = await findReadable(request, collectionId);
  if (readable.kind === 'error') return readable;
  const labels = await visibleLabels(service.relations, caller, collection);
  return { kind: 'selected', collection, isWriter: false, visibility: { tenant, collectionId, labels } };
}
