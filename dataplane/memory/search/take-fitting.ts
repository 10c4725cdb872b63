import type { SearchMemories } from '#contracts/memory';
import type { Candidate } from '#search/ports';
import type { Database } from '#sql/connect';
import { isLive, type MemoryRow, memoryColumns } from '../facts/memory-row.ts';
import { entryId, memoryIdOf } from './memory-entry.ts';

type TakenMemories = {
  readonly rows: readonly (Candidate & { readonly row: MemoryRow })[];
  readonly tokens: number;
  /** Candidates that the person no longer has, or has in another version. */
  readonly dropped: number;
  /** Whether all memories that fit are among these candidates. */
  readonly isComplete: boolean;
};

/** Number of candidates that one statement reads. */
const pageSize = 200;
/**
 * How many more candidates than top_k the first statement reads without a token budget, to replace candidates that have
 * changed. The memories of a person are spread over the table, so that for a first search each further candidate costs
 * a read of the disk.
 */
const spare = 10;
/**
 * Maximum number of memories that a statement names as small enough; where more are, the next pages find some of them
 * soon.
 */
const mostNamed = 1_000;

/**
 * The best candidates within top_k and the token budget, in their order: a candidate that does not fit is skipped, and
 * the next one that fits is taken (memory:search:token-budget). After a page with a skipped candidate, PostgreSQL names
 * the memories that fit into the remaining budget, so that a small remaining budget does not cause a read of every
 * memory of the person.
 * @throws SqlUnavailableError; the reason of the signal, once it is aborted
 */
export async function takeFitting(
  { sql }: Database,
  person: string,
  fused: readonly Candidate[],
  { top_k: topK, token_budget: budget = Number.POSITIVE_INFINITY }: Pick<SearchMemories, 'top_k' | 'token_budget'>,
  signal?: AbortSignal,
): Promise<TakenMemories> {
  const rows: (Candidate & { readonly row: MemoryRow })[] = [];
  let tokens = 0;
  let dropped = 0;
  let left = fused;
  let fitting: ReadonlyMap<string, string> | undefined;
  let size = Number.isFinite(budget) ? pageSize : Math.min(pageSize, topK + spare);
  const isFull = (): boolean => rows.length >= topK || tokens >= budget;
  while (left.length > 0 && !isFull()) {
    signal?.throwIfAborted();
    const page = left.slice(0, size);
    left = left.slice(size);
    size = pageSize;
    const live = await liveRows(sql, person, page);
    dropped += page.filter(({ id }) => !live.has(id)).length;
    let isOmitted = false;
    for (const { id, score } of page) {
      const row = live.get(id);
      if (row === undefined || isFull()) continue;
      if (tokens + row.tokens > budget) {
        isOmitted = true;
        continue;
      }
      tokens += row.tokens;
      rows.push({ id, score, row });
    }
    if (isFull() || !isOmitted) continue;
    fitting = await namedFitting(sql, person, budget - tokens);
    const named = fitting;
    if (named === undefined) continue;
    const stale = left.filter(({ id }) => (named.get(memoryIdOf(id)) ?? id) !== id);
    dropped += stale.length;
    left = left.filter(({ id }) => named.get(memoryIdOf(id)) === id);
  }
  return { rows, tokens, dropped, isComplete: isFull() || coversAll(fitting, fused) };
}

/** Whether the candidates contain every memory that fits. */
function coversAll(fitting: ReadonlyMap<string, string> | undefined, fused: readonly Candidate[]): boolean {
  if (fitting === undefined) return false;
  const candidates = new Set(fused.map(({ id }) => id));
  return [...fitting.values()].every((id) => candidates.has(id));
}

/**
 * Entry ids of the live memories of at most this many tokens, by memory id; undefined if there are too many to list.
 */
async function namedFitting(
  sql: Database['sql'],
  person: string,
  tokens: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const rows = await sql<{ memory_id: string; version: number }[]>`
    select m.memory_id, m.version from memory.memories m
    where m.person = ${person} and m.tokens <= ${tokens} and ${isLive(sql)} limit ${mostNamed + 1}`;
  if (rows.length > mostNamed) return undefined;
  return new Map(rows.map(({ memory_id, version }) => [memory_id, entryId(memory_id, version)]));
}

async function liveRows(
  sql: Database['sql'],
  person: string,
  candidates: readonly Candidate[],
): Promise<ReadonlyMap<string, MemoryRow>> {
  const ids = candidates.map(({ id }) => memoryIdOf(id));
  const rows = await sql<MemoryRow[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where m.person = ${person} and m.memory_id = any(${sql.array(ids)}::uuid[]) and ${isLive(sql)}`;
  return new Map(rows.map((row) => [entryId(row.memory_id, row.version), row]));
}
