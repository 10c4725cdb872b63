import { z } from 'zod';
import type { Parameter } from '#api/operation';
import { createCursors, readLimit } from '#api/pages';
import { retrievalLimits } from '#contracts/retrieval';
import { listLimits } from '#contracts/retrieval-documents';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';

export const documentCursors = createCursors('documents/v1', z.string().min(1).max(retrievalLimits.docId));
export const jobCursors = createCursors('jobs/v1');

/** The query parameters of a list in pages. */
export function pageParameters(cursors: ReturnType<typeof createCursors>): readonly Parameter<RetrievalErrorCode>[] {
  const { min, max, default: usual } = listLimits.page;
  return [
    {
      name: 'limit',
      in: 'query',
      description: 'Most entries of the page.',
      required: false,
      schema: { type: 'integer', minimum: min, maximum: max, default: usual },
      read: (text) => (readLimit(text, listLimits.page) === undefined ? undefined : text),
    },
    {
      name: 'page_token',
      in: 'query',
      description: 'next_page_token of the page before.',
      required: false,
      schema: { type: 'string', maxLength: 8_192 },
      read: cursors.read,
    },
  ];
}
