import type { FoundMemory, SearchMemories } from '#contracts/memory';
import { embedText } from '#models/embed-text';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile, ModelCall } from '#models/ports';
import { analyseQuery } from '#search/analysis/analyse';
import type { AttributeCondition } from '#search/condition';
import { bestRank, fuseRankings } from '#search/fuse-rankings';
import type { Candidate, Leg, SearchIndex } from '#search/ports';
import { SearchUnavailableError } from '#search/search-error';
import type { Database } from '#sql/connect';
import type { MemoryRow } from '../facts/memory-row.ts';
import type { TextPorts } from '../facts/memory-text.ts';
import { memoryPartitionOf } from '../people/memory-partition.ts';
import type { Person } from '../people/person.ts';
import { takeFitting } from './take-fitting.ts';

export type MemorySearchPorts = TextPorts & { readonly database: Database; readonly index: SearchIndex };

type MemorySearch = {
  readonly person: Person;
  readonly userId: string;
  readonly request: SearchMemories;
  /** The query as the caller has embedded it already; undefined if the search embeds it. */
  readonly embedded?: EmbeddedQuery | undefined;
  readonly condition: AttributeCondition | undefined;
  readonly call: ModelCall;
};

/** A query and the profile with which it was embedded; without a profile the search uses words only. */
type EmbeddedQuery = {
  readonly profile: EmbeddingProfile | undefined;
  readonly vector: Float32Array | undefined;
};

type FoundMemories = { readonly results: readonly FoundMemory[]; readonly tokens: number };

/** Maximum number of repetitions of a search whose memories changed while it ran. */
const mostRepetitions = 8;
const windowGrowth = 8;

/**
 * The best memories of a person within top_k and the token budget, best first (memory:search:*). The index proposes;
 * PostgreSQL decides which of them are live. A memory that does not fit into the budget is left out, and the next that
 * fits is taken, so that no omitted memory would still fit unless top_k is reached.
 * @throws SearchUnavailableError, ModelsError, SqlUnavailableError: never an empty answer instead
 */
export async function searchMemories(ports: MemorySearchPorts, search: MemorySearch): Promise<FoundMemories> {
  // The profile may change during the search: the query and the partition use the profile that is read here.
  const profile = search.embedded === undefined ? ports.profile() : search.embedded.profile;
  const partition = memoryPartitionOf(search.person.person, profile);
  if (needsVector(search, profile)) loadMeanwhile(ports, search, partition);
  const legs = await legsOf(ports, search, profile);
  let { person } = search;
  for (let repetition = 0; repetition <= mostRepetitions; repetition += 1) {
    const found = await searchOnce(ports, { ...search, person }, { partition, legs }).catch(async (error: unknown) => {
      // The index does not have a person who was erased during the search.
      if (!(error instanceof SearchUnavailableError) || (await changeNoOf(ports, person)) !== undefined) throw error;
    });
    if (found !== undefined) return found;
    const changeNo = await changeNoOf(ports, person);
    if (changeNo === undefined) return { results: [], tokens: 0 };
    person = { ...person, changeNo };
  }
  throw new SearchUnavailableError('behind');
}

/** Whether the query must be embedded first. */
function needsVector({ request: { mode }, embedded }: MemorySearch, profile: EmbeddingProfile | undefined): boolean {
  return mode !== 'bm25' && embedded === undefined && profile !== undefined;
}

/**
 * Loads the memories of the person while the query is embedded. A failure here is ignored, because the search itself
 * would fail again.
 */
function loadMeanwhile({ index }: MemorySearchPorts, { person, call }: MemorySearch, partition: string): void {
  const nothing = {
    partition,
    reflects: BigInt(person.changeNo),
    labels: 'every',
    legs: [],
    window: 1,
  } as const;
  index.candidates(nothing, call.signal).catch(() => undefined);
}

/** The newest change of a person; undefined after an erasure. */
async function changeNoOf({ database: { sql } }: MemorySearchPorts, { person }: Person): Promise<string | undefined> {
  const [row] = await sql<{ change_no: string }[]>`select change_no from memory.people where person = ${person}`;
  return row?.change_no;
}

type NamedLeg = { readonly name: 'semantic' | 'bm25'; readonly leg: Leg };

async function legsOf(
  { models }: MemorySearchPorts,
  { request: { query, mode }, embedded, call }: MemorySearch,
  profile: EmbeddingProfile | undefined,
): Promise<readonly NamedLeg[]> {
  const legs: NamedLeg[] = [];
  if (mode !== 'bm25' && profile !== undefined) {
    const vector = embedded?.vector ?? (await embedText(models, { profile, use: 'query', text: query }, call));
    legs.push({ name: 'semantic', leg: { kind: 'vector', vector: vector as Float32Array } });
  }
  // The profile was withdrawn after the request was read.
  if (mode === 'semantic' && legs.length === 0)
    throw new ModelsError('unavailable', 'no embedding profile is approved');
  if (mode !== 'semantic') legs.push({ name: 'bm25', leg: { kind: 'bm25', terms: analyseQuery(query) } });
  return legs;
}

/**
 * The result of a search; undefined if memories changed between the choice of candidates and the decision about them.
 */
async function searchOnce(
  ports: MemorySearchPorts,
  search: MemorySearch,
  { partition, legs }: { readonly partition: string; readonly legs: readonly NamedLeg[] },
): Promise<FoundMemories | undefined> {
  const { person, request, condition, call } = search;
  for (let window = Math.max(50, 4 * request.top_k); ; window *= windowGrowth) {
    const rankings = await ports.index.candidates(
      {
        partition,
        reflects: BigInt(person.changeNo),
        labels: 'every',
        ...(condition === undefined ? {} : { condition }),
        legs: legs.map(({ leg }) => leg),
        window,
      },
      call.signal,
    );
    const fused = fuseRankings(rankings.map((candidates) => ({ candidates, weight: 1 })));
    const scores = scoresOf(legs, rankings);
    const taken = await takeFitting(ports.database, person.person, fused, request, call.signal);
    if (taken.dropped > 0 && (await hasChanged(ports, person))) return undefined;
    const isExhausted = rankings.every((ranking) => ranking.length < window);
    if (!taken.isComplete && !isExhausted) continue;
    const results = taken.rows.map(({ id, score, row }) =>
      foundOf(row, search.userId, score / (bestRank * legs.length), scores.get(id) ?? { semantic: null, bm25: 0 }),
    );
    return { results, tokens: taken.tokens };
  }
}

type Scores = ReadonlyMap<string, { readonly semantic: number | null; readonly bm25: number }>;

function scoresOf(legs: readonly NamedLeg[], rankings: readonly (readonly Candidate[])[]): Scores {
  const scores = new Map<string, { semantic: number | null; bm25: number }>();
  for (const [at, ranking] of rankings.entries()) {
    const name = legs[at]?.name ?? 'bm25';
    for (const { id, score } of ranking) scores.set(id, { semantic: null, bm25: 0, ...scores.get(id), [name]: score });
  }
  return scores;
}

async function hasChanged({ database }: MemorySearchPorts, { person, changeNo }: Person): Promise<boolean> {
  const [row] = await database.sql`
    select 1 from memory.people where person = ${person} and change_no > ${changeNo}::bigint`;
  return row !== undefined;
}

function foundOf(row: MemoryRow, userId: string, score: number, details: FoundMemory['score_details']): FoundMemory {
  return {
    id: row.memory_id,
    memory: row.text,
    score,
    score_details: details,
    user_id: userId,
    agent_id: row.agent_id,
    run_id: row.run_id,
    categories: [...row.categories],
    metadata: row.metadata,
    tokens: row.tokens,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
