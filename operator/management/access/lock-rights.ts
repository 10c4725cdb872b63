import type { TransactionSql } from '#sql/connect';

/**
 * Holds the lock of all changes of rights until the transaction ends. What asks for a right under it does not take effect
 * after the answer to the revocation of that right, over all replicas.
 */
export async function lockRights(sql: TransactionSql): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('portcullis.management.rights', 0))`;
}
