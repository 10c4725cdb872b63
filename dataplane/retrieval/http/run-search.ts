import { watchClient } from '#api/watch-client';
import { type Citation, type QueryMeta, type QueryRequest, retrievalLimits } from '#contracts/retrieval';
import type { Turns } from '#kit/concurrency/turns';
import { ModelsError } from '#models/models-error';
import { analyseQuery } from '#search/analysis/analyse';
import { findTerms } from '#search/analysis/find-terms';
import { fuseRankings } from '#search/fuse-rankings';
import { parseCondition } from '#search/parse-condition';
import type { Sql } from '#sql/connect';
import { visibleLabels } from '../access/permissions.ts';
import { type CollectionRecord, findCollection } from '../collections/collection-record.ts';
import { rerankCitations, rerankProfileOf, rerankWindow } from '../query/rerank-citations.ts';
import { rewriteQuery } from '../query/rewrite-query.ts';
import { type RankedChunk, weightsOf } from '../query/search-collection.ts';
import { searchNewest } from '../query/search-newest.ts';
import { isSomeVisible, stillVisible, type Visibility } from '../query/visible-chunks.ts';
import { findReadable } from './find-readable.ts';
import { invalidBody } from './read-request.ts';
import type { RetrievalError, RetrievalRequest } from './retrieval.ts';

export type Searched = {
  readonly kind: 'searched';
  readonly ranked: readonly RankedChunk[];
  readonly visibility: Visibility;
  /** The text that a model wrote for the query, or the original text if no model did. */
  readonly rewritten: string;
  readonly meta: QueryMeta;
  /** Terms whose words citations highlight; undefined if the request does not include it. */
  readonly highlighted: ReadonlySet<string> | undefined;
};

type SearchOptions = {
  /** How many chunks are returned; `top_k` if absent. The choice of the reranked chunks depends on `top_k` only. */
  readonly most?: number;
  /** The path of the text of the query in the body; `text` if absent. */
  readonly textPath?: readonly (string | number)[];
  /** The rewritten text of an earlier search of the request, which no model writes again. */
  readonly rewritten?: string;
};

/**
 * Maximum number of rankings of one query; if documents were replaced during each of them, the search is answered
 * without reranking.
 */
const mostRankings = 3;

/**
 * The search that query, pack and evaluation share. Rights are checked first, then the models and the index are called.
 * If a found document is replaced during the reranking, the search is repeated. A text that the embedding model refuses
 * is answered with 400 and its path; a refused rewritten text is replaced by the original text.
 */
export async function runSearch(
  request: RetrievalRequest,
  query: QueryRequest,
  { most, textPath = ['text'], rewritten: known }: SearchOptions = {},
): Promise<Searched | RetrievalError> {
  const { service, caller, traceId, incoming } = request;
  const filters = query.filters === undefined ? undefined : parseCondition(query.filters);
  if (filters?.kind === 'fault') {
    return invalidBody([{ path: ['filters', ...filters.fault.path], message: filters.fault.message }]);
  }
  const readable = await findReadable(request, query.collection);
  if (readable.kind === 'error') return readable;
  const { collectionId, retrievalDefaults: defaults } = readable.collection;
  const labels = await visibleLabels(service.relations, caller, readable.collection);
  const visibility = { tenant: caller.tenant, collectionId, labels };
  const profiles = service.profiles();
  const mode = query.mode ?? defaults.mode ?? 'hybrid';
  const topK = query.top_k ?? defaults.top_k ?? retrievalLimits.topK.default;
  using client = watchClient(incoming);
  const call = { signal: client.signal, traceparent: request.traceparent };
  const rewriter = query.rewrite && known === undefined ? profiles.rewrite.values().next().value : undefined;
  const rewritten =
    rewriter === undefined ? (known ?? query.text) : await rewriteQuery(service.models, rewriter, query.text, call);
  const ranker = query.rerank ? rerankProfileOf(profiles.rerank, defaults.rerank_profile_id) : undefined;
  const returned = most ?? topK;
  const window = ranker === undefined ? 0 : rerankWindow(ranker, topK);
  const depth = Math.max(returned, window);
  const search = async (at: CollectionRecord, searched: string) => ({
    text: searched,
    found: await searchNewest(
      service,
      { collection: at, visibility, text: searched, mode, topK: returned, depth, condition: filters?.condition, call },
      (id) => profiles.embedding.get(id),
    ),
  });
  let { collection } = readable;
  for (let rankings = 1; ; rankings += 1) {
    const searched = await search(collection, rewritten)
      .catch((error: unknown) => {
        // Only the rewritten text is refused, so that the text of the caller may still be a query.
        if (rewritten === query.text || messageOf(error) === undefined) throw error;
        return search(collection, query.text);
      })
      .catch((error: unknown) => refusalOf(error, textPath));
    if ('kind' in searched) return searched;
    const { text, found } = searched;
    const ranked = rankings > mostRankings ? 0 : window;
    const candidates = found.slice(0, ranked).map((one) => ({ ...one, content: one.chunk.text }));
    const reranked = await rerankCitations(service.models, ranker, { text: query.text, citations: candidates }, call);
    const best = reranked.applied ? [...reranked.citations, ...found.slice(ranked)] : found;
    // Chunks that were deleted or closed during the call of the ranker are not returned and take no rank.
    const { shown, isReplaced } =
      candidates.length === 0
        ? { shown: best, isReplaced: false }
        : await dropHidden(service.database.sql, visibility, best);
    if (!isReplaced) {
      return {
        kind: 'searched',
        ranked: (reranked.applied ? rescored(shown) : shown).slice(0, returned),
        visibility,
        rewritten,
        highlighted: query.highlight ? new Set(analyseQuery(`${query.text}\n${text}`)) : undefined,
        meta: { mode, top_k: topK, rerank: reranked.applied, hybrid_weights: weightsOf[mode], trace_id: traceId },
      };
    }
    const newest = await findCollection(service.database.sql, caller.tenant, { id: visibility.collectionId });
    collection = newest ?? collection;
  }
}

/**
 * The chunks that the caller may still see, and whether a document of a removed chunk is still visible: then it has a
 * newer text, or its collection has another version, which was not searched.
 */
export async function dropHidden(
  sql: Sql,
  visibility: Visibility,
  ranked: readonly RankedChunk[],
): Promise<{ readonly shown: readonly RankedChunk[]; readonly isReplaced: boolean }> {
  const visible = await stillVisible(
    sql,
    visibility,
    ranked.map(({ chunk }) => chunk.chunkId),
  );
  const shown = ranked.filter(({ chunk }) => visible.has(chunk.chunkId));
  if (shown.length === ranked.length) return { shown, isReplaced: false };
  const dropped = ranked.flatMap(({ chunk }) => (visible.has(chunk.chunkId) ? [] : [chunk.doc]));
  return { shown, isReplaced: await isSomeVisible(sql, visibility, dropped) };
}

/** The answer about a text that no model embeds; every other error is thrown again. */
function refusalOf(error: unknown, path: readonly (string | number)[]): RetrievalError {
  const message = messageOf(error);
  if (message === undefined) throw error;
  return invalidBody([{ path: [...path], message }]);
}

function messageOf(error: unknown): string | undefined {
  return error instanceof ModelsError ? textRefusals.get(error.code) : undefined;
}

const textRefusals: ReadonlyMap<string, string> = new Map([
  ['denied', 'is denied by the guardrail of the model gateway'],
  ['refused', 'is not accepted by the embedding model'],
]);

/** Scores after a rerank are derived from the new ranks, as all scores are derived from ranks. */
function rescored(ranked: readonly RankedChunk[]): readonly RankedChunk[] {
  const candidates = ranked.map(({ chunk }) => ({ id: chunk.chunkId, score: 0 }));
  const scores = fuseRankings([{ candidates, weight: 1 }]);
  return ranked.map(({ chunk }, at) => ({ chunk, score: scores[at]?.score ?? 0 }));
}

/**
 * Citations in the order of the chunks. A long text is highlighted in several turns of the event loop, so that other
 * requests are answered meanwhile.
 */
export async function toCitations(
  ranked: readonly RankedChunk[],
  highlighted: ReadonlySet<string> | undefined,
  turns: Turns,
): Promise<readonly Citation[]> {
  const citations: Citation[] = [];
  for (const one of ranked) {
    if (highlighted !== undefined && turns.isOver()) await turns.next();
    citations.push(citationOf(one, highlighted));
  }
  return citations;
}

function citationOf({ chunk, score }: RankedChunk, highlighted: ReadonlySet<string> | undefined): Citation {
  return {
    doc_id: chunk.docId,
    chunk_id: chunk.chunkId,
    source_url: chunk.sourceUrl,
    title: chunk.title,
    content: chunk.text,
    score,
    heading: chunk.heading,
    page: chunk.page,
    start: chunk.start,
    end: chunk.end,
    ...(highlighted === undefined
      ? {}
      : { highlights: [...findTerms(chunk.text, highlighted, retrievalLimits.highlights)] }),
  };
}
