import type { Sql, TransactionSql } from '#sql/connect';
import { inScope } from '../people/scope-condition.ts';
import { isLive, type MemoryRow, memoryColumns } from './memory-row.ts';

type Scope = Parameters<typeof inScope>[1];

/** A page of a list. Its first row follows a memory of an earlier page, or a number of skipped rows. */
type Page = { readonly size: number; readonly after?: string | undefined; readonly offset?: number };

/** The first of all ids in the order of a list. */
const beforeAll = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Live memories of a scope of a person, the newest first. Rows of deleted memories are not read. */
export async function listLive(
  sql: Sql | TransactionSql,
  person: string,
  scope: Scope,
  { size, after = beforeAll, offset = 0 }: Page,
): Promise<readonly MemoryRow[]> {
  return sql<MemoryRow[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where m.person = ${person} and ${isLive(sql)} and ${inScope(sql, scope)} and m.memory_id < ${after}::uuid
    order by m.memory_id desc limit ${size} offset ${offset}`;
}

/** The number of live memories of a scope of a person; maintenance deletes expired memories later. */
export async function countLive(sql: Sql | TransactionSql, person: string, scope: Scope): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from memory.memories m
    where m.person = ${person} and ${isLive(sql)} and ${inScope(sql, scope)}`;
  return row?.count ?? 0;
}
