import { ModelsError } from '#models/models-error';
import type { ModelCall, Models, RerankProfile } from '#models/ports';

type Reranking<C> = {
  /** Best first; in the given order if reranking was not applied. */
  readonly citations: readonly C[];
  /** The value of `meta.rerank` in an answer. */
  readonly applied: boolean;
};

/** Maximum number of chunks that are reranked to find better chunks for an answer, if one call allows that many. */
const rerankedChunks = 50;

/** How many chunks are reranked for an answer of `topK` chunks: at least `topK`. */
export function rerankWindow(profile: RerankProfile, topK: number): number {
  return Math.max(topK, Math.min(profile.maxDocuments, rerankedChunks));
}

/**
 * The approved profile for reranking: the named profile, or the first approved profile if none is named. Undefined if
 * the named profile is not approved: then the results are not reranked (`retrieval:query:rerank-approved-only`).
 */
export function rerankProfileOf(
  approved: ReadonlyMap<string, RerankProfile>,
  named: string | undefined,
): RerankProfile | undefined {
  return named === undefined ? approved.values().next().value : approved.get(named);
}

/**
 * Orders citations that the caller may see by a model. If the model is unavailable, refuses a text or gives an invalid
 * answer, they keep their order and the answer reports that reranking was not applied. Rejects only with the reason of
 * the signal.
 */
export async function rerankCitations<C extends { readonly content: string }>(
  models: Pick<Models, 'rerank'>,
  profile: RerankProfile | undefined,
  { text, citations }: { readonly text: string; readonly citations: readonly C[] },
  call: ModelCall = {},
): Promise<Reranking<C>> {
  if (profile === undefined || citations.length === 0) return { citations, applied: false };
  try {
    const documents = citations.map(({ content }) => content);
    const ranked = await models.rerank(profile, text, documents, call);
    const ordered = ranked.flatMap(({ index }) => citations[index] ?? []);
    return { citations: ordered, applied: true };
  } catch (error) {
    if (error instanceof ModelsError) return { citations, applied: false };
    throw error;
  }
}
