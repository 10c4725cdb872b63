import { clientClassOf } from '#audit/client-class';
import { authorOf, type ChangeAuthor } from '../access/change-entry.ts';
import type { RetrievalRequest } from './retrieval.ts';

/** The author of a request, as the audit log records it. */
export function authorOfRequest({ caller, incoming, traceId }: RetrievalRequest): ChangeAuthor {
  return { author: authorOf(caller), client: clientClassOf(incoming.socket.remoteAddress), traceId };
}
