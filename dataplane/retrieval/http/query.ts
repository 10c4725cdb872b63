import { success } from '#api/operation';
import { queryRequestSchema } from '#contracts/retrieval';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { runSearch, toCitations } from './run-search.ts';

/** Searches one collection. */
export async function query(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(queryRequestSchema, request.body);
  if (read.kind === 'error') return read;
  const found = await runSearch(request, read.value);
  if (found.kind === 'error') return found;
  const items = await toCitations(found.ranked, found.highlighted, request.service.turns);
  return success({ items, meta: found.meta });
}
