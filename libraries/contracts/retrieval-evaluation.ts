import { z } from 'zod';
import { docIdSchema, retrievalLimits, retrievalModeSchema, storableString } from './retrieval.ts';

/** Limits of an evaluation, the service's own. */
export const evaluationLimits = {
  judgements: 100,
  /** Maximum number of relevant documents of one query. */
  relevant: 100,
  grade: { min: 1, max: 4 },
  topK: { min: 1, max: 20, default: 10 },
  /** Time after which no more queries are started, milliseconds. */
  durationMs: 60_000,
} as const;

const { judgements, relevant, grade, topK } = evaluationLimits;

const judgementSchema = z
  .strictObject({
    text: storableString.min(1).max(retrievalLimits.queryText),
    relevant: z
      .array(
        z.strictObject({
          doc_id: docIdSchema,
          grade: z
            .int()
            .min(grade.min)
            .max(grade.max)
            .default(grade.min)
            .describe('How relevant: 1 somewhat, 4 fully.'),
        }),
      )
      .min(1)
      .max(relevant),
  })
  .refine(({ relevant: list }) => new Set(list.map(({ doc_id }) => doc_id)).size === list.length, {
    path: ['relevant'],
    error: 'must name each document once',
  });

export const judgementListSchema = z.array(judgementSchema).min(1).max(judgements);

/** Body of POST /v1/evaluations (retrieval:surface:eval; the form is the service's own). */
export const evaluationRequestSchema = z
  .strictObject({
    collection: storableString.min(1).max(retrievalLimits.name),
    judgements: judgementListSchema,
    modes: z.array(retrievalModeSchema).min(1).max(3).default(['hybrid']).describe('Each mode is measured separately.'),
    top_k: z.int().min(topK.min).max(topK.max).default(topK.default).describe('How many documents of an answer count.'),
    rerank: z.boolean().default(false),
  })
  .refine(({ modes }) => new Set(modes).size === modes.length, { path: ['modes'], error: 'must name each mode once' })
  .describe('Judged queries on one collection.');

const share = z.number().min(0).max(1);

/** Answer of an evaluation. */
export const evaluationSchema = z
  .strictObject({
    collection_id: z.uuid(),
    top_k: z.int(),
    queries: z.int(),
    results: z.array(
      z.strictObject({
        mode: retrievalModeSchema,
        ndcg: share.describe('Mean normalized discounted cumulative gain; a grade g has the gain 2^g - 1.'),
        recall: share,
        mrr: share.describe('Mean reciprocal rank of the first relevant document.'),
        p50_ms: z.number().min(0),
        p95_ms: z.number().min(0),
      }),
    ),
    trace_id: z.string(),
  })
  .describe('The quality of each mode with the rights of the caller.');
