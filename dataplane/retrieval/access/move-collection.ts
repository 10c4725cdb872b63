import type { Relations, Tuple } from '#relations/ports';
import { collectionObject } from '#relations/tenant-object';
import type { Database, Sql, TransactionSql } from '#sql/connect';
import type { Note } from './change-entry.ts';

/** Most levels of a tree of collections. */
export const mostLevels = 10;

type Move = {
  readonly tenant: string;
  readonly collectionId: string;
  /** Null for no parent. The caller must be allowed to write the parent. */
  readonly parentId: string | null;
  readonly note: Note;
};

/**
 * Moves a collection below another one of its tenant, or to the top level. Moves of a tenant are serialized, so that
 * two of them never create a cycle. Readers of the old parent lose their right before those of the new one gain theirs.
 * @returns `circle` if the parent is the collection itself or below it, `too_deep` above `mostLevels`, and `not_found`
 * if one of them does not exist; nothing has changed then
 * @throws RelationsUnavailableError, SqlUnavailableError: the same move may be sent again
 */
export async function moveCollection(
  database: Database,
  relations: Relations,
  { tenant, collectionId, parentId, note }: Move,
): Promise<'moved' | 'circle' | 'too_deep' | 'not_found'> {
  return database.sql.begin(async (sql) => {
    await lockParents(sql, tenant);
    const above = parentId === null ? [] : await withAncestors(sql, tenant, parentId);
    if (parentId !== null && above.length === 0) return 'not_found';
    if (above.includes(collectionId)) return 'circle';
    const height = await levelsFrom(sql, tenant, collectionId);
    if (height === 0) return 'not_found';
    if (above.length + height > mostLevels) return 'too_deep';
    await replaceParent(sql, relations, { tenant, collectionId, parentId });
    await sql`
      update retrieval.collections set parent_id = ${parentId}, updated_at = clock_timestamp()
      where collection_id = ${collectionId}`;
    await note(sql);
    return 'moved';
  });
}

/** Whether another level fits below a collection that exists. */
export async function hasRoomBelow(sql: Sql, tenant: string, parentId: string): Promise<boolean> {
  return (await withAncestors(sql, tenant, parentId)).length < mostLevels;
}

async function lockParents(sql: TransactionSql, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`retrieval parents of ${tenant}`}, 0))`;
}

async function replaceParent(
  sql: TransactionSql,
  relations: Relations,
  { tenant, collectionId, parentId }: Omit<Move, 'note'>,
): Promise<void> {
  const object = collectionObject(tenant, collectionId);
  const isParent = ({ relation }: Tuple): boolean => relation === 'parent';
  const held = (await relations.tuplesOf(object)).filter(isParent);
  const wanted = parentId === null ? undefined : collectionObject(tenant, parentId);
  const old = held.filter(({ subject }) => subject !== wanted);
  if (old.length > 0) await relations.revoke(old, sql);
  if (wanted !== undefined) await relations.grant([{ subject: wanted, relation: 'parent', object }], sql);
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
