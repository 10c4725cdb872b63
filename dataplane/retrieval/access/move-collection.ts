import type { AuditContent } from '#contracts/audit';
import { RelationsUnavailableError, type Tuple, type TupleReplacement } from '#relations/ports';
import { RelationsModelError } from '#relations/relations-error';
import { collectionObject } from '#relations/tenant-object';
import type { Sql, TransactionSql } from '#sql/connect';
import type { ChangePorts } from './change-relations.ts';
import { hasLeftMove, lockParents, settleTenant, storeParent } from './settle-moves.ts';

/** Maximum number of levels of a tree of collections. */
export const mostLevels = 10;

type Move = {
  readonly tenant: string;
  readonly collectionId: string;
  /** Null for no parent. */
  readonly parentId: string | null;
  readonly entry: AuditContent;
  /** Under the lock of the moves of the tenant: whether the author may move the collection and write the parent. */
  readonly isPermitted: () => Promise<boolean>;
};

/**
 * Moves a collection below another one of its tenant, or to the top level, and adds the audit entry: both or neither. Moves
 * of a tenant are serialized, so that two of them never create a cycle. Readers of the old parent lose their right when
 * those of the new one gain theirs. A store outside of the database has no common transaction with it: there the move is
 * stored before it is made. A move that was left is settled when its request can no longer arrive, and until then no other
 * move of the tenant begins. So nothing is repeated here.
 * @returns `circle` if the parent is the collection itself or below it, `too_deep` above `mostLevels`, `not_found`
 * if one of them does not exist, and `forbidden`; nothing has changed then
 * @throws RelationsUnavailableError, SqlUnavailableError: the collection may have moved, and then gets its entry later; the
 * same move may be sent again
 */
export async function moveCollection(
  ports: ChangePorts,
  move: Move,
): Promise<'moved' | 'circle' | 'too_deep' | 'not_found' | 'forbidden'> {
  const { tenant, collectionId, parentId, entry, isPermitted } = move;
  await settleTenant(ports, tenant);
  return ports.database.sql.beginOnce(async (sql) => {
    await lockParents(sql, tenant);
    if (!(await isPermitted())) return 'forbidden';
    if (await hasLeftMove(sql, tenant)) {
      throw new RelationsUnavailableError(undefined, false, 'an earlier move is not settled');
    }
    const above = parentId === null ? [] : await withAncestors(sql, tenant, parentId);
    if (parentId !== null && above.length === 0) return 'not_found';
    if (above.includes(collectionId)) return 'circle';
    const height = await levelsFrom(sql, tenant, collectionId);
    if (height === 0) return 'not_found';
    if (above.length + height > mostLevels) return 'too_deep';
    await replaceParent(ports, sql, move);
    await storeParent(sql, { collectionId, parentId });
    await ports.audit.append(sql, [entry]);
    return 'moved';
  });
}

/** Whether the tree allows another level below an existing collection. */
export async function hasRoomBelow(sql: Sql, tenant: string, parentId: string): Promise<boolean> {
  return (await withAncestors(sql, tenant, parentId)).length < mostLevels;
}

async function replaceParent(
  { database, relations }: ChangePorts,
  sql: TransactionSql,
  { tenant, collectionId, parentId, entry }: Move,
): Promise<void> {
  const object = collectionObject(tenant, collectionId);
  const held = (await relations.tuplesOf(object)).filter(({ relation }) => relation === 'parent');
  const wanted = parentId === null ? undefined : collectionObject(tenant, parentId);
  const change = replacementOf(held, wanted === undefined ? [] : [{ subject: wanted, relation: 'parent', object }]);
  if (change === undefined) return;
  if (relations.joinsTransactions) return relations.replace(change, sql);
  // This statement is outside of the transaction, because its row must exist if the process dies after the next
  // statement.
  await database.sql`
    insert into retrieval.collection_moves (collection_id, tenant, parent_id, entry)
    values (${collectionId}, ${tenant}, ${parentId}, ${JSON.stringify(entry)})`;
  let isSent = false;
  try {
    // The server ends a session that was idle for too long, and with it the lock: then this statement fails.
    await sql`select 1`;
    isSent = true;
    await relations.replace(change);
  } catch (error) {
    if (!isSent || error instanceof RelationsModelError) {
      await database.sql`delete from retrieval.collection_moves where collection_id = ${collectionId}`;
    }
    throw error;
  }
  await sql`delete from retrieval.collection_moves where collection_id = ${collectionId}`;
}

function replacementOf(held: readonly Tuple[], wanted: readonly Tuple[]): TupleReplacement | undefined {
  const lacks = (among: readonly Tuple[]) => (one: Tuple) => !among.some(({ subject }) => subject === one.subject);
  const [removed, added] = [held.filter(lacks(wanted)), wanted.filter(lacks(held))];
  return removed.length + added.length === 0 ? undefined : { removed, added };
}

/** The collection and its ancestors, nearest first; empty if it does not exist. A deleted ancestor still counts. */
async function withAncestors(sql: Sql | TransactionSql, tenant: string, id: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive above (id, parent_id, level) as (
      select collection_id, parent_id, 1 from retrieval.collections
      where tenant = ${tenant} and collection_id = ${id} and status <> 'deleted'
      union all
      select c.collection_id, c.parent_id, above.level + 1 from above join retrieval.collections c
        on c.collection_id = above.parent_id and c.tenant = ${tenant}
      where above.level <= ${mostLevels}
    )
    select id from above order by level`;
  return rows.map((row) => row.id);
}

/** Levels of the tree that begins with a collection; 0 if it does not exist. */
async function levelsFrom(sql: TransactionSql, tenant: string, id: string): Promise<number> {
  const [row] = await sql<{ levels: number | null }[]>`
    with recursive below (id, level) as (
      select collection_id, 1 from retrieval.collections
      where tenant = ${tenant} and collection_id = ${id} and status <> 'deleted'
      union all
      select c.collection_id, below.level + 1 from below join retrieval.collections c
        on c.parent_id = below.id and c.tenant = ${tenant}
      where below.level <= ${mostLevels}
    )
    select max(level) as levels from below`;
  return row?.levels ?? 0;
}
