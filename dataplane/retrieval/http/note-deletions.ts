import { changeEntry } from '#audit/change-entry';
import type { Note } from '../access/change-author.ts';
import type { AcceptedDeletion } from '../ingest/submit/submit-documents.ts';
import { authorOfRequest } from './author-of-request.ts';
import type { RetrievalRequest } from './retrieval.ts';

/**
 * Adds one audit entry for each accepted deletion of a document. The id of a document is text of a client, so that the
 * entry has its number instead.
 */
export function noteDeletions(request: RetrievalRequest): Note<readonly AcceptedDeletion[]> {
  const { audit, clock } = request.service;
  return (sql, deletions) => {
    const by = authorOfRequest(request);
    const entries = deletions.map(({ doc, jobId }) => {
      const deletion = {
        action: 'document.delete',
        target: { type: 'document', id: doc },
        operationId: jobId,
      } as const;
      return changeEntry(deletion, by, clock.date());
    });
    return audit.append(sql, entries);
  };
}
