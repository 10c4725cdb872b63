import { auditContentSchema } from '#contracts/audit';
import { collectionObject } from '#relations/tenant-object';
import type { TransactionSql } from '#sql/connect';
import { takeNamedLock, takeNamedLockIfFree } from '#sql/named-lock';
import type { ChangePorts } from './change-relations.ts';

type Placed = { readonly collectionId: string; readonly parentId: string | null };

/** Locks until the end of the transaction: no other move of the tenant is in progress. */
export async function lockParents(sql: TransactionSql, tenant: string): Promise<void> {
  await takeNamedLock(sql, lockOf(tenant));
}

export async function storeParent(sql: TransactionSql, { collectionId, parentId }: Placed): Promise<void> {
  await sql`
    update retrieval.collections set parent_id = ${parentId}, updated_at = clock_timestamp()
    where collection_id = ${collectionId}`;
}

/**
 * Completes moves that a store outside of the database has made and whose parent and audit entry are missing. Moves in
 * progress are not touched.
 * @returns the number of tenants that had such a move
 */
export async function settleMoves(ports: ChangePorts): Promise<number> {
  const tenants = await ports.database.sql<{ tenant: string }[]>`
    select distinct tenant from retrieval.collection_moves order by tenant limit 100`;
  for (const { tenant } of tenants) {
    await ports.database.sql.begin(async (sql) => {
      if (await takeNamedLockIfFree(sql, lockOf(tenant))) await settleTenant(ports, sql, tenant);
    });
  }
  return tenants.length;
}

/**
 * This runs under the lock of the tenant, so that every recorded move was interrupted, and the store shows whether it
 * was made.
 */
export async function settleTenant(
  { relations, audit }: ChangePorts,
  sql: TransactionSql,
  tenant: string,
): Promise<void> {
  const left = await sql<(Placed & { readonly entry: string })[]>`
    delete from retrieval.collection_moves where tenant = ${tenant}
    returning collection_id as "collectionId", parent_id as "parentId", entry`;
  for (const { entry, ...placed } of left) {
    const { collectionId, parentId } = placed;
    const held = await relations.tuplesOf(collectionObject(tenant, collectionId));
    const parents = held.filter(({ relation }) => relation === 'parent').map(({ subject }) => subject);
    const wanted = parentId === null ? [] : [collectionObject(tenant, parentId)];
    if (parents.join(' ') !== wanted.join(' ')) continue;
    await storeParent(sql, placed);
    await audit.append(sql, [auditContentSchema.parse(JSON.parse(entry))]);
  }
}

function lockOf(tenant: string): string {
  return `retrieval parents of ${tenant}`;
}
