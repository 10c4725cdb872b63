import type { TransactionSql } from '#sql/connect';
import type { UserFact } from '../extraction/extract-facts.ts';
import { termsOfFitting } from '../extraction/renewed-values.ts';
import type { KnownMemory, PastMemory } from '../extraction/settle-facts.ts';
import { isLive, lastStated } from '../facts/memory-row.ts';
import type { MemoryText } from '../facts/write-memory.ts';
import type { ClaimedEvent } from './claim-event.ts';

type Scope = Pick<ClaimedEvent, 'person' | 'agentId' | 'runId'>;

/** A fact and the topic with which it would be stored. */
type ReadFact = { readonly fact: UserFact; readonly stored: Pick<MemoryText, 'topic'> };

/** The memories of a scope against which an add is decided. */
type KnownMemories = { readonly known: readonly KnownMemory[]; readonly past: readonly PastMemory[] };

/** A memory that is not deleted; it may have expired. */
type KeptMemory = KnownMemory & { readonly isLive: boolean };

/**
 * The live memories of the scope that state the same as a fact, have its topic, an ended or a renewed value, or are
 * referred to. Of the ended memories, only those that were stated last with the sameness or the topic of a fact: an
 * older ended memory no longer affects a decision (docs/decisions/0162).
 * @param referred ids of memories that the facts refer to
 */
export async function readKnown(
  sql: TransactionSql,
  scope: Scope,
  prepared: readonly ReadFact[],
  referred: readonly string[],
): Promise<KnownMemories> {
  if (prepared.length === 0) return { known: [], past: [] };
  const sameness = [...new Set(prepared.map(({ fact }) => fact.sameness))];
  const topics = [...new Set(prepared.flatMap(({ stored }) => (stored.topic === null ? [] : [stored.topic])))];
  const kept = await readKept(sql, scope, prepared, { sameness, topics, referred });
  const deleted = await sql<PastMemory[]>`
    ${lastDeleted(sql, scope, 'sameness', sameness)} union all ${lastDeleted(sql, scope, 'topic', topics)}`;
  return { known: kept.filter((row) => row.isLive), past: [...kept.filter((row) => !row.isLive), ...deleted] };
}

/** How many first letters two words of one family have in common at least: "teach" and "teacher" (`hasEnded`). */
const familyStart = 3;
const startOf = (term: string): string => term.slice(0, familyStart);

type Wanted = {
  readonly sameness: readonly string[];
  readonly topics: readonly string[];
  readonly referred: readonly string[];
};

/** Each condition is in the statement only where an add needs it, so that most adds read no other memory of the person. */
async function readKept(
  sql: TransactionSql,
  { person, agentId, runId }: Scope,
  prepared: readonly ReadFact[],
  { sameness, topics, referred }: Wanted,
): Promise<readonly KeptMemory[]> {
  const renewed = prepared.flatMap(({ fact }) => fact.changes?.renewed ?? []);
  const saysChange = prepared.some(({ fact }) => (fact.changes?.topics.length ?? 0) > 0);
  const fitting = [...new Set(renewed.flatMap(termsOfFitting))];
  const ended = new Set(prepared.flatMap(({ fact }) => fact.changes?.ended.flatMap(({ terms }) => terms) ?? []));
  const starts = [...new Set([...ended].filter(({ length }) => length >= familyStart).map(startOf))];
  const conditions = [
    sql`m.sameness = any(${sql.array([...sameness])}::text[])`,
    ...(topics.length > 0 ? [sql`m.topic = any(${sql.array([...topics])}::text[])`] : []),
    ...(saysChange ? [sql`${isLive(sql)} and m.topic is not null`] : []),
    ...(ended.size > 0
      ? [
          sql`${isLive(sql)} and m.topic is not null and (string_to_array(m.terms, ' ') && ${sql.array([...ended])}::text[]
            or exists (select from unnest(string_to_array(m.terms, ' ')) term
              where left(term, ${familyStart}::int) = any(${sql.array(starts)}::text[])))`,
        ]
      : []),
    ...(fitting.length > 0
      ? [
          sql`${isLive(sql)} and m.topic is not null
            and string_to_array(m.terms, ' ') && ${sql.array([...fitting])}::text[]`,
        ]
      : []),
    ...(referred.length > 0 ? [sql`${isLive(sql)} and m.memory_id = any(${sql.array([...referred])}::uuid[])`] : []),
  ];
  return sql<KeptMemory[]>`
    select m.memory_id as "memoryId", m.text, m.sameness, m.topic, m.version, ${lastStated(sql)} as "statedAt",
      ${isLive(sql)} as "isLive"
    from memory.memories m
    where m.person = ${person} and m.deleted_at is null
      and m.agent_id is not distinct from ${agentId} and m.run_id is not distinct from ${runId}
      and (${conditions.map((one) => sql`(${one})`).reduce((all, one) => sql`${all} or ${one}`)})
    order by m.memory_id desc`;
}

/** For each value of a column, the deleted memory of the scope that was stated last. */
function lastDeleted(
  sql: TransactionSql,
  { person, agentId, runId }: Scope,
  column: 'sameness' | 'topic',
  values: readonly string[],
) {
  const found = sql`
    select m.sameness, m.topic, ${lastStated(sql)} as "statedAt" from memory.memories m
    where m.person = ${person} and memory.scope_key(m.agent_id, m.run_id) = memory.scope_key(${agentId}, ${runId})
      and m.agent_id is not distinct from ${agentId} and m.run_id is not distinct from ${runId}
      and m.deleted_at is not null and m.${sql(column)} = v.value`;
  // Rows that were deleted before the column existed have no time in it.
  return sql`
    select p.* from unnest(${sql.array([...values])}::text[]) as v (value) cross join lateral (
      (${found} and m.stated_at is not null order by m.stated_at desc limit 1)
      union all (${found} and m.stated_at is null)) p`;
}
