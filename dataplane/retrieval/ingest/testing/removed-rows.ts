import type { Database } from '#sql/connect';

/** Counts the rows of a table that each transaction removes from now on; the answer lists the counts, the largest first. */
export async function countRemovedRows(
  { sql }: Database,
  table: 'chunks' | 'documents' | 'jobs',
): Promise<() => Promise<readonly number[]>> {
  await sql`create table public.removals (rows integer not null, transaction xid8 not null default pg_current_xact_id())`;
  await sql`
    create function public.note_removal() returns trigger language plpgsql as $$
    begin
      insert into public.removals select count(*) from removed;
      return null;
    end $$`;
  await sql`
    create trigger noted after delete on ${sql(`retrieval.${table}`)}
    referencing old table as removed for each statement execute function public.note_removal()`;
  return async () => {
    const rows = await sql<{ rows: number }[]>`
      select sum(rows)::int as rows from public.removals where rows > 0 group by transaction order by rows desc`;
    return rows.map((row) => row.rows);
  };
}
