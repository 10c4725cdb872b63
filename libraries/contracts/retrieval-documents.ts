import { z } from 'zod';
import { ingestJobSchema } from './retrieval.ts';

/** Limits of the lists of documents and jobs, the service's own. */
export const listLimits = { page: { min: 1, max: 200, default: 50 } } as const;

const page = {
  next_page_token: z.string().nullable().describe('The parameter page_token of the next page; null on the last one.'),
};

/** A document as its readers see it, without its text. */
export const documentSchema = z
  .strictObject({
    doc_id: z.string(),
    title: z.string().nullable(),
    source_url: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
    content_hash: z.string().describe('As submitted.'),
    chunk_count: z.int(),
    valid_from: z.iso.datetime().nullable(),
    valid_until: z.iso.datetime().nullable(),
    available_at: z.iso.datetime().describe('When this content could be found first.'),
  })
  .describe('A document that can be found, or that its writer submitted for another time.');

export const documentListSchema = z
  .strictObject({ items: z.array(documentSchema), ...page })
  .describe('A page of documents in the order of their ids, compared byte by byte.');

export const jobListSchema = z
  .strictObject({ items: z.array(ingestJobSchema), ...page })
  .describe('A page of jobs, the newest first.');

export type StoredDocument = z.output<typeof documentSchema>;
