import type { Sql, TransactionSql } from '#sql/connect';

/**
 * The end of the last freeze window that is in force now for these objects, written as type:id; undefined if there is
 * none.
 */
export async function frozenUntil(sql: Sql | TransactionSql, objects: readonly string[]): Promise<Date | undefined> {
  if (objects.length === 0) return undefined;
  const [row] = await sql<{ until: Date | null }[]>`
    select max(ends_at) as until from management.freezes
    where target_type || ':' || target_id::text in ${sql([...objects])}
      and starts_at <= clock_timestamp() and ends_at > clock_timestamp()`;
  return row?.until ?? undefined;
}
