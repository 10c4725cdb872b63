import type { TransactionSql } from '#sql/connect';
import { inScope } from './scope-condition.ts';

/** Most memories that one statement removes, so that it ends before the timeout of statements. */
export const memoriesOfStatement = 5_000;

/** Permanently removes the memories of a scope with their history, in the transaction that holds the lock of the person. */
export async function removeMemories(
  sql: TransactionSql,
  person: string,
  scope: Parameters<typeof inScope>[1],
): Promise<void> {
  for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
    const rows = await sql<{ memory_id: string }[]>`
      select memory_id from memory.memories
      where person = ${person} and memory_id > ${after}::uuid and ${inScope(sql, scope)}
      order by memory_id limit ${memoriesOfStatement}`;
    const last = rows.at(-1);
    if (last === undefined) return;
    const ids = sql.array(rows.map(({ memory_id }) => memory_id));
    await sql`delete from memory.history where memory_id = any(${ids}::uuid[])`;
    await sql`delete from memory.memories where memory_id = any(${ids}::uuid[])`;
    if (rows.length < memoriesOfStatement) return;
    after = last.memory_id;
  }
}
