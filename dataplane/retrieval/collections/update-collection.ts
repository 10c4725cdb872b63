import type { UpdateCollection } from '#contracts/retrieval';
import type { Database } from '#sql/connect';
import { SqlStatementError } from '#sql/sql-error';
import type { Note } from '../access/change-author.ts';

/** SQLSTATE unique_violation. */
const uniqueViolation = '23505';

/**
 * Changes members of a collection; absent members stay unchanged. A query that begins later uses the new values. A change
 * of the visibility is noted, because it changes who may read.
 * @returns `taken` if another collection of the tenant has the name
 */
export async function updateCollection(
  { sql: database }: Database,
  updated: { readonly tenant: string; readonly collectionId: string; readonly note: Note },
  change: UpdateCollection,
): Promise<'updated' | 'taken' | 'not_found'> {
  const { tenant, collectionId, note } = updated;
  const { name, description, visibility, empty_acl_policy: emptyAclPolicy, retrieval_defaults: defaults } = change;
  const defaultsJson = defaults === undefined ? null : JSON.stringify(defaults);
  const isUpdated = await database
    .begin(async (sql) => {
      const free =
        name === undefined
          ? sql`true`
          : sql`not exists (select from retrieval.collections o
          where o.tenant = ${tenant} and o.name = ${name} and o.status <> 'deleted' and o.collection_id <> c.collection_id)`;
      const [held] = await sql<{ visibility: string }[]>`
        select visibility from retrieval.collections where collection_id = ${collectionId} and tenant = ${tenant} for update`;
      const rows = await sql`
    update retrieval.collections c set name = coalesce(${name ?? null}, name),
      description = coalesce(${description ?? null}, description), visibility = coalesce(${visibility ?? null}, visibility),
      empty_acl_policy = coalesce(${emptyAclPolicy ?? null}, empty_acl_policy),
      retrieval_defaults = coalesce(${defaultsJson}::text::jsonb, retrieval_defaults), updated_at = clock_timestamp()
    where tenant = ${tenant} and collection_id = ${collectionId} and status <> 'deleted' and ${free}
    returning collection_id`;
      if (rows.length > 0 && visibility !== undefined && visibility !== held?.visibility) await note(sql);
      return rows.length > 0;
    })
    .catch((error: unknown) => {
      // If two concurrent changes set the same free name, the unique index decides.
      if (error instanceof SqlStatementError && error.sqlState === uniqueViolation) return false;
      throw error;
    });
  if (isUpdated) return 'updated';
  const [there] = await database`
    select from retrieval.collections
    where tenant = ${tenant} and collection_id = ${collectionId} and status <> 'deleted'`;
  return there === undefined ? 'not_found' : 'taken';
}
