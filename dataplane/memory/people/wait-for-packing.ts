import type { TransactionSql } from '#sql/connect';

/** Changes of a person after which the memories are packed (docs/design/memory.md, "Segments"). */
export const changesOfPacking = 256n;

/** Queues the memories of a user for the worker that packs them into segments. */
export async function waitForPacking(sql: TransactionSql, person: string): Promise<void> {
  await sql`insert into memory.packing (person) values (${person}) on conflict do nothing`;
}
