import type { z } from 'zod';
import { failure, success } from '#api/operation';
import { retrievalLimits } from '#contracts/retrieval';
import { evaluationRequestSchema, type evaluationSchema } from '#contracts/retrieval-evaluation';
import { meanMeasures, quantileOf, rankMeasures } from '../eval/rank-measures.ts';
import { findReadable } from './find-readable.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalError, RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { runSearch } from './run-search.ts';

type Evaluation = z.output<typeof evaluationRequestSchema>;
type ModeResult = z.output<typeof evaluationSchema>['results'][number];

/**
 * How many chunks are read for each counted document, because several chunks of an answer can belong to one document.
 */
const chunksEach = 5;

/**
 * Runs judged queries with the rights of the caller, and measures each mode. A failed search or the deadline fails the
 * evaluation, because a mean over some of the queries would look like a result.
 */
export async function evaluate(request: RetrievalRequest): Promise<RetrievalResponse> {
  const read = readRequest(evaluationRequestSchema, request.body);
  if (read.kind === 'error') return read;
  const { value } = read;
  const readable = await findReadable(request, value.collection);
  if (readable.kind === 'error') return readable;
  const results: ModeResult[] = [];
  const deadline = performance.now() + request.service.evaluationMs;
  for (const mode of value.modes) {
    const measured = await measureMode(request, value, { mode, deadline });
    if ('kind' in measured) return measured;
    results.push(measured);
  }
  const { collectionId } = readable.collection;
  const { top_k, judgements } = value;
  return success({
    collection_id: collectionId,
    top_k,
    queries: judgements.length,
    results,
    trace_id: request.traceId,
  });
}

const tooLong = { path: 'judgements', message: 'take longer than an evaluation may: send fewer queries or modes' };

async function measureMode(
  request: RetrievalRequest,
  { collection, judgements, top_k, rerank }: Evaluation,
  { mode, deadline }: { readonly mode: ModeResult['mode']; readonly deadline: number },
): Promise<ModeResult | RetrievalError> {
  const most = Math.min(top_k * chunksEach, retrievalLimits.topK.max);
  const measures = [];
  const durations: number[] = [];
  for (const [at, { text, relevant }] of judgements.entries()) {
    const begun = performance.now();
    if (begun > deadline) return failure('unavailable', [tooLong]);
    const query = { collection, text, mode, top_k, rerank, rewrite: false, highlight: false };
    const found = await runSearch(request, query, { most, textPath: ['judgements', at, 'text'] });
    if (found.kind === 'error') return found;
    durations.push(performance.now() - begun);
    const documents = [...new Set(found.ranked.map(({ chunk }) => chunk.docId))];
    const grades = new Map(relevant.map(({ doc_id, grade }) => [doc_id, grade]));
    measures.push(rankMeasures(documents, grades, top_k));
  }
  const { ndcg, recall, reciprocalRank: mrr } = meanMeasures(measures);
  return { mode, ndcg, recall, mrr, p50_ms: quantileOf(durations, 0.5), p95_ms: quantileOf(durations, 0.95) };
}
