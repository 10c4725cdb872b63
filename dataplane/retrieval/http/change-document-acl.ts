import { failure, success } from '#api/operation';
import { changeEntry } from '#audit/change-entry';
import { documentAclSchema } from '#contracts/retrieval-grants';
import { changeAcl } from '../access/change-acl.ts';
import type { Note } from '../access/change-author.ts';
import { documentLabels, isEmptyAcl } from '../access/document-labels.ts';
import { mayWrite } from '../access/permissions.ts';
import { authorOfRequest } from './author-of-request.ts';
import { findNamed } from './find-readable.ts';
import { invalidBody, readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';

/** Replaces the access list of a document without its text. The new list is in effect when the response is sent. */
export async function changeDocumentAcl(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(documentAclSchema, request.body);
  if (read.kind === 'error') return read;
  const { collection: named, doc_id, acl } = read.value;
  const found = await findNamed(request, named);
  if (found.kind === 'error') return found;
  const { service, caller } = request;
  const { collection } = found;
  if (!(await mayWrite(service.relations, caller, collection))) return failure('forbidden');
  if (collection.visibility === 'private' && collection.emptyAclPolicy === 'reject' && isEmptyAcl(acl)) {
    return invalidBody([{ path: ['acl'], message: 'must name a group or a principal in this private collection' }]);
  }
  const labels = documentLabels(acl, collection, caller);
  const note: Note<string> = (sql, doc) => {
    const changed = { action: 'document.acl', target: { type: 'document', id: doc } } as const;
    return service.audit.append(sql, [changeEntry(changed, authorOfRequest(request), service.clock.date())]);
  };
  const change = { collectionId: collection.collectionId, docId: doc_id, labels, note };
  return (await changeAcl(service.database, change)) === 'changed' ? success({ doc_id, acl }) : failure('not_found');
}
