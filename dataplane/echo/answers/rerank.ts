import { z } from 'zod';
import { wordsOf } from './echo-text.ts';

export const rerankRequestSchema = z.looseObject({
  model: z.string().min(1),
  query: z.string(),
  documents: z.array(z.string()).min(1).max(1_000),
  top_n: z.int().min(1).nullish(),
  return_documents: z.boolean().nullish(),
});
type RerankRequest = z.infer<typeof rerankRequestSchema>;

/**
 * The answer to a rerank request: documents that contain more words of the query are first; documents with the same
 * number of words keep their order.
 */
export function rerankingOf({ model, query, documents, top_n, return_documents }: RerankRequest) {
  const asked = distinctWords(query);
  const results = documents
    .map((document, index) => ({
      index,
      relevance_score: share(asked, distinctWords(document)),
      ...(return_documents === true ? { document: { text: document } } : {}),
    }))
    .sort((one, other) => other.relevance_score - one.relevance_score || one.index - other.index)
    .slice(0, top_n ?? documents.length);
  const tokens = [query, ...documents].reduce((sum, text) => sum + wordsOf(text).length, 0);
  return { model, object: 'list', results, usage: { total_tokens: tokens } };
}

/**
 * The share of words that both texts have: the number of common words divided by the mean length of the texts (cosine
 * of their word sets), from 0 to 1.
 */
function share(asked: ReadonlySet<string>, found: ReadonlySet<string>): number {
  const common = asked.intersection(found).size;
  return common === 0 ? 0 : common / Math.sqrt(asked.size * found.size);
}

function distinctWords(text: string): ReadonlySet<string> {
  return new Set(
    wordsOf(text)
      .map((word) => word.trim().toLowerCase())
      .filter((word) => /[\p{L}\p{N}]/u.test(word)),
  );
}
