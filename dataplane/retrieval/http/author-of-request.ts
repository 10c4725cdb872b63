import type { ChangeAuthor } from '#audit/change-entry';
import { clientClassOf } from '#audit/client-class';
import { authorOf } from '../access/change-author.ts';
import type { RetrievalRequest } from './retrieval.ts';

/** The author of a request, as the audit log records it. */
export function authorOfRequest({ caller, incoming, traceId }: RetrievalRequest): ChangeAuthor {
  return { author: authorOf(caller), client: clientClassOf(incoming.socket.remoteAddress), traceId };
}
