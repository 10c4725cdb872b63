import { z } from 'zod';
import { compareCandidates } from '../../fuse-rankings.ts';
import type { Candidate, CandidateQuery, Leg } from '../../ports.ts';
import { SearchUnavailableError } from '../../search-error.ts';
import { anyOf, type Clause, conditionFilter, valuesClauses } from './condition-filter.ts';
import { keywordOf } from './encode-values.ts';
import { markOf } from './index-layout.ts';
import type { WriteTarget } from './write-documents.ts';

/** The bounds of a query; OpenSearch refuses larger queries. */
export const queryLimits = {
  /** Candidates of a leg. */
  window: 5_000,
  /**
   * Different terms of a bm25 leg that count; further ones, in the order of the query, do not. With the 256 clauses of a
   * condition of 128 parts they stay below the 1,024 clauses that OpenSearch accepts by default.
   */
  terms: 700,
} as const;

/** Neighbours that are requested beyond the window, so that equal scores at its end are seen. */
const beyondWindow = 16;
/** With the mark of the partition these are the 10,000 hits that OpenSearch returns at most by default. */
const mostNeighbours = 9_999;
/** With this boost the mark of the partition comes before every hit. */
const markBoost = 1e9;

type Found = {
  /**
   * The last change of the partition that the answering index contains; undefined if the index does not have the
   * partition.
   */
  readonly appliedThrough: bigint | undefined;
  readonly ranking: readonly Candidate[];
};

/**
 * One ranking for each leg. Every answer has the mark of the partition from the same state of the same shard, so that
 * an index that was lost, replaced or restored is never mistaken for an empty index.
 */
export async function searchLegs(
  target: WriteTarget,
  query: CandidateQuery,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  if (query.window > queryLimits.window) throw new Error(`a window of ${query.window} is above ${queryLimits.window}`);
  let neighbours = Math.min(query.window + beyondWindow, mostNeighbours);
  for (;;) {
    const answers = await ask(target, query, neighbours, signal);
    const isOpen = answers.some(({ ranking }, at) => endsInTie(query, at, ranking, neighbours));
    if (!isOpen || neighbours === mostNeighbours) {
      return answers.map(({ appliedThrough, ranking }) => ({
        appliedThrough,
        ranking: ranking.slice(0, query.window),
      }));
    }
    neighbours = Math.min(neighbours * 4, mostNeighbours);
  }
}

/**
 * Whether further neighbours may have the same score as the last one in the window: the order by id needs all of them.
 */
function endsInTie(query: CandidateQuery, at: number, ranking: readonly Candidate[], neighbours: number): boolean {
  if (query.legs[at]?.kind !== 'vector' || ranking.length < neighbours) return false;
  return ranking[query.window - 1]?.score === ranking.at(-1)?.score;
}

async function ask(
  { connection, alias, routing, partition }: WriteTarget,
  query: CandidateQuery,
  neighbours: number,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  const filter = filterOf(query);
  // A preference that begins with an underscore is a command of OpenSearch.
  const preference = `p${routing}`;
  const head = JSON.stringify({ index: alias, routing, preference, allow_partial_search_results: false });
  const searches = query.legs.map((leg) => JSON.stringify(searchOf(leg, { query, filter, neighbours })));
  const { status, body } = await connection.ask({
    method: 'POST',
    path: '/_msearch',
    body: searches.map((search) => `${head}\n${search}\n`).join(''),
    signal,
  });
  if (status !== 200) throw new SearchUnavailableError('unreachable', new Error(`OpenSearch: status ${status}`));
  const answer = severalAnswers.safeParse(body);
  if (!answer.success || answer.data.responses.length !== query.legs.length) {
    throw new SearchUnavailableError('unreachable', new Error('OpenSearch: an answer of another form'));
  }
  return answer.data.responses.map((response, at) => readAnswer(response, markOf(partition), query.legs[at]?.kind));
}

function filterOf({ partition, labels, condition }: CandidateQuery): readonly Clause[] {
  return [
    { term: { partition: { value: keywordOf(partition) } } },
    ...(labels === 'every' ? [] : [anyOf(valuesClauses('labels', labels.map(keywordOf)))]),
    ...(condition === undefined ? [] : [conditionFilter(condition)]),
  ];
}

type Parts = { readonly query: CandidateQuery; readonly filter: readonly Clause[]; readonly neighbours: number };

function searchOf(leg: Leg, { query, filter, neighbours }: Parts): Clause {
  const mark = { constant_score: { filter: { ids: { values: [markOf(query.partition)] } }, boost: markBoost } };
  const ranked =
    leg.kind === 'bm25'
      ? { bool: { must: [anyOf(termClauses(leg.terms))], filter } }
      : { knn: { vector: { vector: Array.from(leg.vector), k: neighbours, filter: { bool: { filter } } } } };
  return {
    size: (leg.kind === 'bm25' ? query.window : neighbours) + 1,
    query: { bool: { should: [mark, ranked], minimum_should_match: 1 } },
    sort: [{ _score: 'desc' }, { id: 'asc' }],
    _source: false,
    track_total_hits: false,
  };
}

/** One clause for each different term. A term that is asked twice counts twice. */
function termClauses(terms: readonly string[]): readonly Clause[] {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const counted = [...counts].slice(0, queryLimits.terms);
  return counted.map(([value, boost]) => ({ term: { terms: { value, boost } } }));
}

const hits = z.array(z.object({ _id: z.string(), sort: z.tuple([z.number(), z.string()]) }));
const severalAnswers = z.object({
  responses: z.array(
    z.union([
      z.object({ status: z.number(), error: z.object({ type: z.string() }) }),
      z.object({
        timed_out: z.literal(false),
        _shards: z.object({ total: z.literal(1), successful: z.literal(1), failed: z.literal(0) }),
        hits: z.object({ hits }),
      }),
    ]),
  ),
});
type OneAnswer = z.infer<typeof severalAnswers>['responses'][number];

function readAnswer(answer: OneAnswer, mark: string, kind: Leg['kind'] | undefined): Found {
  if ('error' in answer) {
    if (answer.status === 404) return { appliedThrough: undefined, ranking: [] };
    const reason = new Error(`OpenSearch: a search was refused with ${answer.status} ${answer.error.type}`);
    throw new SearchUnavailableError('unreachable', reason);
  }
  const [first, ...rest] = answer.hits.hits;
  if (first?._id !== mark) return { appliedThrough: undefined, ranking: [] };
  const scoreOf = kind === 'vector' ? dotProductOf : (score: number) => score;
  const ranking = rest.map(({ sort: [score, id] }): Candidate => ({ id, score: scoreOf(score) }));
  return { appliedThrough: BigInt(first.sort[1]), ranking: ranking.sort(compareCandidates) };
}

/** OpenSearch's score of an inner product is positive: 1 + d, or 1 / (1 - d) where d is negative. */
function dotProductOf(score: number): number {
  return score >= 1 ? score - 1 : 1 - 1 / score;
}
