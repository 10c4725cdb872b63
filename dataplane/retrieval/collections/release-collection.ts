import type { Database } from '#sql/connect';

/** Ends the management by a resource: afterwards the collection is like a collection that was created over HTTP. */
export async function releaseCollection(
  { sql }: Database,
  released: { readonly tenant: string; readonly collectionId: string; readonly manager: string },
): Promise<void> {
  const { tenant, collectionId, manager } = released;
  await sql`
    update retrieval.collections set managed_by = null, parent_managed = false, updated_at = clock_timestamp()
    where tenant = ${tenant} and collection_id = ${collectionId} and managed_by = ${manager} and status <> 'deleted'`;
}
