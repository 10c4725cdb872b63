import { z } from 'zod';
import type { Parameter } from '#api/operation';
import { createCursors, readLimit } from '#api/pages';
import { pageParameters } from '#api/parameters';
import { docIdSchema, retrievalLimits } from '#contracts/retrieval';
import { listLimits } from '#contracts/retrieval-documents';

const page = { size: 'limit', bounds: listLimits.page } as const;

export const documentCursors = createCursors('documents/v1', docIdSchema);
export const documentPages = pageParameters({ ...page, cursors: documentCursors });

/** Earlier releases gave jobs of masked texts ids that are UUIDs of version 4. */
export const jobCursors = createCursors('jobs/v1', z.uuid());
export const jobPages = pageParameters({ ...page, cursors: jobCursors });

const { min, max } = listLimits.page;
/** The answer is an array, which has no place for a cursor: the name of an entry is used as the cursor. */
export const collectionPages: readonly Parameter<never>[] = [
  {
    name: 'limit',
    in: 'query',
    description: 'Most collections of the answer; all without it. An answer with fewer of them is the last one.',
    required: false,
    schema: { type: 'integer', minimum: min, maximum: max },
    read: (text) => (readLimit(text, listLimits.page) === undefined ? undefined : text),
  },
  {
    name: 'after',
    in: 'query',
    description: 'Only collections whose names follow this one, such as the last name of the answer before.',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: retrievalLimits.name },
    read: (text) => (text.length > 0 && text.length <= retrievalLimits.name ? text : undefined),
  },
];
