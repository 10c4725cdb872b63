import type { TransactionSql } from './transaction.ts';

/** Waits for a lock, which the transaction holds until it ends. */
export async function takeNamedLock(sql: TransactionSql, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}

/** Takes a lock unless another transaction holds it. @returns whether this transaction holds it until it ends */
export async function takeNamedLockIfFree(sql: TransactionSql, name: string): Promise<boolean> {
  const [lock] = await sql<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as "isFree"`;
  return lock?.isFree === true;
}
