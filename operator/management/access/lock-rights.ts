import type { Database, TransactionSql } from '#sql/connect';

/**
 * Runs a change once, in a transaction that holds the lock of all changes of rights until it ends. A change may write outside of
 * that transaction.
 */
type UnderRightsLock = <T>(change: (sql: TransactionSql) => Promise<T>) => Promise<T>;

const key = 'portcullis.management.rights';

/**
 * A change that asks for a right under the lock does not take effect after the answer to the revocation of that right, over
 * all replicas. To ask it needs a second connection while its own one waits for the lock or holds it: as many changes as the
 * pool has connections would wait for each other, so a process makes one at a time.
 */
export function createRightsLock({ sql }: Pick<Database, 'sql'>): UnderRightsLock {
  let latest: Promise<unknown> = Promise.resolve();

  return (change) => {
    const changed = latest.then(() =>
      sql.beginOnce(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`;
        return change(transaction);
      }),
    );
    latest = changed.catch(() => undefined);
    return changed;
  };
}

/** Runs a change like UnderRightsLock does, unless another one holds the lock. It asks for no other connection. */
export async function underFreeRightsLock(
  { sql }: Pick<Database, 'sql'>,
  change: (sql: TransactionSql) => Promise<void>,
): Promise<void> {
  await sql.beginOnce(async (transaction) => {
    const [lock] = await transaction<{ isFree: boolean }[]>`
      select pg_try_advisory_xact_lock(hashtextextended(${key}, 0)) as "isFree"`;
    if (lock?.isFree === true) await change(transaction);
  });
}
