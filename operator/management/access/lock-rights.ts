import type { Database, TransactionSql } from '#sql/connect';
import { takeNamedLock, takeNamedLockIfFree } from '#sql/named-lock';

/** Runs a change once, in a transaction that holds the lock of all changes of rights until it ends. */
type UnderRightsLock = <T>(change: (sql: TransactionSql) => Promise<T>) => Promise<T>;

/** The name of the lock of all changes of rights. */
export const rightsLock = 'portcullis.management.rights';

/**
 * A change that checks a right under the lock does not take effect after the answer to the revocation of that right,
 * over all replicas. The check needs a second connection while the connection of the change waits for the lock or holds
 * it. If there were as many changes as connections in the pool, they would wait for each other, so a process makes one
 * change at a time.
 */
export function createRightsLock({ sql }: Pick<Database, 'sql'>): UnderRightsLock {
  const inTurn = oneAtATime();
  return (change) =>
    inTurn(() =>
      sql.beginOnce(async (transaction) => {
        await takeNamedLock(transaction, rightsLock);
        return change(transaction);
      }),
    );
}

/**
 * Runs a change like UnderRightsLock, unless another change holds the lock. The change may need a second connection, so
 * a process makes one change at a time.
 */
export async function underFreeRightsLock(
  { sql }: Pick<Database, 'sql'>,
  change: (sql: TransactionSql) => Promise<void>,
): Promise<void> {
  await sql.beginOnce(async (transaction) => {
    if (await takeNamedLockIfFree(transaction, rightsLock)) await change(transaction);
  });
}

/** Runs each action after the previous one has ended. */
export function oneAtATime(): <T>(action: () => Promise<T>) => Promise<T> {
  let latest: Promise<unknown> = Promise.resolve();
  return (action) => {
    const done = latest.then(action);
    latest = done.catch(() => undefined);
    return done;
  };
}
