import type { TransactionSql } from '#sql/connect';
import { inIndexedScope } from './scope-condition.ts';

/**
 * Maximum number of memories, events and entries of history that one transaction removes. A transaction must end before
 * the timeouts of statements and transactions, so that a person with any number of memories can be erased.
 */
export const mostRemoved = { memories: 5_000, events: 5_000, history: 20_000 } as const;

type Removed = {
  readonly memories: number;
  /** How many of the removed memories were still returned by reads. */
  readonly live: number;
  readonly history: number;
  /** Whether the scope has no more memories. */
  readonly isLast: boolean;
};

/**
 * Permanently removes memories of a scope with their history, as many as one transaction may remove. Replicas load the
 * memories of the person again, because they cannot determine which rows were deleted.
 * @param changeNo the number of the change; its transaction holds the lock of the person
 */
export async function removeMemories(
  sql: TransactionSql,
  { person, changeNo }: { readonly person: string; readonly changeNo: string },
  scope: Parameters<typeof inIndexedScope>[1],
): Promise<Removed> {
  await sql`update memory.people set forgotten_through = ${changeNo}, packed_through = 0 where person = ${person}`;
  await sql`delete from memory.segments where person = ${person}`;
  const found = await sql<{ memory_id: string }[]>`
    select memory_id from memory.memories where person = ${person} and ${inIndexedScope(sql, scope)}
    order by memory_id limit ${mostRemoved.memories}`;
  const ids = sql.array(found.map(({ memory_id }) => memory_id));
  // The rows are found by their addresses, which never change in this table: a join would be planned with the
  // statistics, which after a large removal expect one row instead of many.
  const entries = await sql`
    delete from memory.history where ctid = any(array(
      select ctid from memory.history where memory_id = any(${ids}::uuid[]) limit ${mostRemoved.history}))
    returning 1`;
  const history = entries.length;
  if (history === mostRemoved.history) return { memories: 0, live: 0, history, isLast: false };
  const rows = await sql<{ live: boolean }[]>`
    delete from memory.memories where memory_id = any(${ids}::uuid[])
    returning deleted_at is null and (expires_at is null or expires_at > clock_timestamp()) as live`;
  const live = rows.filter((row) => row.live).length;
  return { memories: rows.length, live, history, isLast: rows.length < mostRemoved.memories };
}
