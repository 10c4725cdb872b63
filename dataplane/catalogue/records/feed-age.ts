import type { Sql } from '#sql/connect';

/** Longest age of the stored agents, compared with their resources, at which an interface is shown, seconds. */
export const mostAgeSeconds = 60;

/** A condition of a statement: whether the stored agents have every change until shortly before it. */
export function isCurrent(sql: Sql) {
  return sql`coalesce((
    select current_at >= clock_timestamp() - make_interval(secs => ${mostAgeSeconds}::float8) from catalogue.feed), false)`;
}

/** Seconds since the stored agents had every change of their resources; undefined before the first complete feed. @throws SqlUnavailableError */
export async function readFeedAge(sql: Sql): Promise<number | undefined> {
  const [row] = await sql<{ seconds: number }[]>`
    select greatest(0, extract(epoch from clock_timestamp() - current_at))::float8 as seconds from catalogue.feed`;
  return row?.seconds;
}
