import { success } from '#api/operation';
import { packRequestSchema } from '#contracts/retrieval';
import { type PackCandidate, type Packed, packAll, packContext, type TokenCounter } from '../pack/pack-context.ts';
import type { RankedChunk } from '../query/search-collection.ts';
import { type Visibility, type VisibleText, visibleTexts } from '../query/visible-chunks.ts';
import { readRequest } from './read-request.ts';
import type { RetrievalRequest, RetrievalResponse } from './retrieval.ts';
import { dropHidden, runSearch, type Searched, toCitations } from './run-search.ts';

/** Largest number of UTF-16 units that one token of the encoding represents. */
const mostUnitsOfToken = 128;

/**
 * Maximum number of searches of one request; if documents are replaced during each search, the last answer omits those
 * documents.
 */
const mostSearches = 3;

/** Searches one collection and packs the results into a budget of tokens. */
export async function retrieveAndPack(request: RetrievalRequest): Promise<RetrievalResponse> {
  const { service } = request;
  const read = readRequest(packRequestSchema, request.body);
  if (read.kind === 'error') return read;
  const { token_budget: budget, ...query } = read.value;
  let rewritten: string | undefined;
  for (let searches = 1; ; searches += 1) {
    const found = await runSearch(request, query, rewritten === undefined ? {} : { rewritten });
    if (found.kind === 'error') return found;
    rewritten = found.rewritten;
    const packed = await packShown(found, { isLast: searches === mostSearches });
    if (packed !== 'replaced') return answer(found, packed);
  }

  async function packShown(
    { ranked, visibility }: Searched,
    { isLast }: { readonly isLast: boolean },
  ): Promise<PackedChunks | 'replaced'> {
    for (let chunks = ranked; ; ) {
      const packed = await pack(chunks, visibility);
      // Chunks that were deleted or became invisible while tokens were counted are not returned, and the other chunks
      // are packed again.
      const { shown, isReplaced } = await dropHidden(service.database.sql, visibility, chunks);
      if (isReplaced && !isLast) return 'replaced';
      if (shown.length === chunks.length) return packed;
      chunks = shown;
    }
  }

  async function pack(chunks: readonly RankedChunk[], visibility: Visibility): Promise<PackedChunks> {
    const docs = [...new Set(chunks.map(({ chunk }) => chunk.doc))];
    const texts = await visibleTexts(service.database.sql, visibility, docs, budget * mostUnitsOfToken);
    const whole = texts === undefined ? undefined : await packWhole(chunks, docs, texts, budget, service.countTokens);
    if (whole !== undefined) return { ...whole, mode: 'full_document', items: chunks };
    const packed = await packContext(chunks.map(candidateOf), budget, service.countTokens);
    const kept = new Set(packed.ids);
    const items = chunks.filter(({ chunk }) => kept.has(chunk.chunkId));
    return { ...packed, mode: 'relevance_search', items };
  }

  async function answer(
    { highlighted, meta }: Searched,
    { mode, context, tokens, items }: PackedChunks,
  ): Promise<RetrievalResponse> {
    const citations = await toCitations(items, highlighted, service.turns);
    return success({ packed_context: context, token_count: tokens, mode, items: citations, meta });
  }
}

type PackedChunks = Packed & {
  readonly mode: 'full_document' | 'relevance_search';
  readonly items: readonly RankedChunk[];
};

function candidateOf({ chunk }: RankedChunk): PackCandidate {
  const { chunkId: id, doc, title, heading, start, end, text } = chunk;
  return { id, doc, title, heading, start, end, text };
}

/** The whole texts of all documents that were found, if they fit and each is still visible; undefined otherwise. */
async function packWhole(
  ranked: readonly RankedChunk[],
  docs: readonly string[],
  texts: readonly VisibleText[],
  budget: number,
  countTokens: TokenCounter,
): Promise<Packed | undefined> {
  if (docs.length === 0) return undefined;
  const byDoc = new Map(texts.map(({ doc, text }) => [doc, text]));
  const candidates = docs.flatMap((doc): PackCandidate[] => {
    const text = byDoc.get(doc);
    const first = ranked.find(({ chunk }) => chunk.doc === doc)?.chunk;
    if (text === undefined || first === undefined) return [];
    return [{ id: doc, doc, title: first.title, heading: null, start: 0, end: text.length, text }];
  });
  return candidates.length < docs.length ? undefined : packAll(candidates, budget, countTokens);
}
