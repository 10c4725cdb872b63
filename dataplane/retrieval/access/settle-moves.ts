import { type AuditContent, auditContentSchema } from '#contracts/audit';
import { RelationsModelError } from '#relations/relations-error';
import { collectionObject } from '#relations/tenant-object';
import type { Sql, TransactionSql } from '#sql/connect';
import { takeNamedLock, takeNamedLockIfFree } from '#sql/named-lock';
import type { ChangePorts } from './change-relations.ts';

type Placed = { readonly collectionId: string; readonly parentId: string | null };
type LeftMove = Placed & { readonly entry: AuditContent };

/**
 * Longest time from when a move is stored until the store of rights has executed or refused each copy of its request, seconds
 * (docs/decisions/0179). What the store shows before proves nothing.
 */
const longestSeconds = 30;
/** Maximum number of moves of newer releases that a process reports. */
const mostReported = 1_000;

/** Locks until the end of the transaction: no other move of the tenant is in progress. */
export async function lockParents(sql: TransactionSql, tenant: string): Promise<void> {
  await takeNamedLock(sql, lockOf(tenant));
}

export async function storeParent(sql: TransactionSql, { collectionId, parentId }: Placed): Promise<void> {
  await sql`
    update retrieval.collections set parent_id = ${parentId}, updated_at = clock_timestamp()
    where collection_id = ${collectionId}`;
}

/** Whether a move of the tenant has neither its parent and entry nor was found not made. */
export async function hasLeftMove(sql: Sql | TransactionSql, tenant: string): Promise<boolean> {
  const rows = await sql`select from retrieval.collection_moves where tenant = ${tenant} limit 1`;
  return rows.length > 0;
}

/**
 * Returns a function that completes moves that a store outside of the database made and that were left without their parent and
 * entry, once they are old enough. Tenants whose moves are in progress are left out.
 * @param onUnreadable is called once for a move that a newer release stored. That release settles it.
 * @returns a function that resolves to the number of moves that it settled
 */
export function moveSettling(ports: ChangePorts, onUnreadable: (collectionId: string) => void): () => Promise<number> {
  const { database } = ports;
  const reported = new Set<string>();

  function report(collectionId: string): void {
    if (reported.has(collectionId) || reported.size >= mostReported) return;
    reported.add(collectionId);
    onUnreadable(collectionId);
  }

  return async () => {
    const tenants = await database.sql<{ tenant: string }[]>`
      select distinct tenant from retrieval.collection_moves where ${isOld(database.sql)} order by tenant`;
    let settled = 0;
    let failure: unknown;
    for (const { tenant } of tenants) {
      try {
        settled += await database.sql.beginOnce(async (sql) =>
          (await takeNamedLockIfFree(sql, lockOf(tenant))) ? settle(ports, sql, { tenant, report }) : 0,
        );
      } catch (error) {
        // A collection has too many tuples; every other error is one of all tenants.
        if (!(error instanceof RelationsModelError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return settled;
  };
}

/** The same for one tenant, in its own transaction, which waits for moves of the tenant. */
export async function settleTenant(ports: ChangePorts, tenant: string): Promise<void> {
  const { database } = ports;
  const old = await database.sql`
    select from retrieval.collection_moves where tenant = ${tenant} and ${isOld(database.sql)} limit 1`;
  if (old.length === 0) return;
  await database.sql.beginOnce(async (sql) => {
    await lockParents(sql, tenant);
    await settle(ports, sql, { tenant, report: () => undefined });
  });
}

type OfTenant = { readonly tenant: string; readonly report: (collectionId: string) => void };

/** Under the lock of the tenant: the store shows whether an old move was made. */
async function settle(
  { relations, audit }: ChangePorts,
  sql: TransactionSql,
  { tenant, report }: OfTenant,
): Promise<number> {
  const rows = await sql<(Placed & { readonly entry: string })[]>`
    select collection_id as "collectionId", parent_id as "parentId", entry from retrieval.collection_moves
    where tenant = ${tenant} and ${isOld(sql)} order by created_at, collection_id`;
  let settled = 0;
  for (const { collectionId, parentId, entry } of rows) {
    const readable = readEntry(entry);
    if (readable === undefined) {
      report(collectionId);
      continue;
    }
    const move: LeftMove = { collectionId, parentId, entry: readable };
    if (await isMade(relations, tenant, move)) {
      await storeParent(sql, move);
      await audit.append(sql, [readable]);
    }
    await sql`delete from retrieval.collection_moves where collection_id = ${collectionId}`;
    settled += 1;
  }
  return settled;
}

async function isMade(
  relations: ChangePorts['relations'],
  tenant: string,
  { collectionId, parentId }: Placed,
): Promise<boolean> {
  const held = await relations.tuplesOf(collectionObject(tenant, collectionId));
  const parents = held.filter(({ relation }) => relation === 'parent').map(({ subject }) => subject);
  const wanted = parentId === null ? [] : [collectionObject(tenant, parentId)];
  return parents.join(' ') === wanted.join(' ');
}

/** Condition of a row of moves. */
function isOld(sql: Sql | TransactionSql) {
  return sql`created_at < clock_timestamp() - make_interval(secs => ${longestSeconds})`;
}

/** Undefined for an entry that a newer release wrote. */
function readEntry(text: string): AuditContent | undefined {
  try {
    return auditContentSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function lockOf(tenant: string): string {
  return `retrieval parents of ${tenant}`;
}
