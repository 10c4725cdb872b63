import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { listLimits } from '#contracts/retrieval-documents';
import { listDocuments } from '../query/list-documents.ts';
import { documentCursors } from './page-parameters.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { selectDocuments } from './select-documents.ts';

/** Lists the documents of a collection that the caller may see at present; a writer sees every live document. */
export async function answerListDocuments(request: RetrievalRequest): Promise<RetrievalResponse> {
  const selected = await selectDocuments(request);
  if (selected.kind === 'error') return selected;
  const { limit: text, page_token: after } = request.query;
  const limit = readLimit(text, listLimits.page) ?? listLimits.page.default;
  const items = await listDocuments(request.service.database.sql, selected, { after, limit: limit + 1 });
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  const next = items.length > limit && last !== undefined ? documentCursors.write(last.doc_id) : null;
  return success({ items: shown, next_page_token: next });
}
