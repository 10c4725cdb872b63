import type { Database } from '#sql/connect';
import type { Note } from '../access/change-author.ts';

/**
 * Marks a collection as deleted: no later request finds it, and its contents are removed in the background. The row
 * stays, so that its id is never used again; its name can be used again.
 * @returns `has_children` if the collection has a child that is not deleted
 */
export async function deleteCollection(
  { sql: database }: Database,
  deleted: { readonly tenant: string; readonly collectionId: string; readonly note: Note },
): Promise<'deleted' | 'has_children' | 'not_found'> {
  const { tenant, collectionId, note } = deleted;
  return database.begin(async (sql) => {
    const rows = await sql`
    update retrieval.collections c
    set status = 'deleted', change_no = change_no + 1, updated_at = clock_timestamp()
    where tenant = ${tenant} and collection_id = ${collectionId} and status <> 'deleted'
      and not exists (select from retrieval.collections b where b.parent_id = c.collection_id and b.status <> 'deleted')
    returning collection_id`;
    if (rows.length > 0) {
      await note(sql);
      return 'deleted';
    }
    const [there] = await sql`
    select from retrieval.collections
    where tenant = ${tenant} and collection_id = ${collectionId} and status <> 'deleted'`;
    return there === undefined ? 'not_found' : 'has_children';
  });
}
