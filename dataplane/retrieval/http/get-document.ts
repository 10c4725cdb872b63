import { failure, success } from '#api/operation';
import { findDocument } from '../query/list-documents.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { selectDocuments } from './select-documents.ts';

/**
 * Reads one document without its text. A document that the caller may not see gets the same answer as an absent
 * document.
 */
export async function getDocument(request: RetrievalRequest): Promise<RetrievalResponse> {
  const selected = await selectDocuments(request);
  if (selected.kind === 'error') return selected;
  const found = await findDocument(request.service.database.sql, selected, request.path('doc_id'));
  return found === undefined ? failure('not_found') : success(found);
}
