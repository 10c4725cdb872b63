import type { Sql, SqlPart } from '#sql/connect';

/** Shortest and longest pause before work that waits for a dependency is retried. */
const pauses = { firstSeconds: 1, mostSeconds: 300 } as const;

/**
 * The pause of a job that waits for a dependency, an interval. It equals the time for which the job has waited, within
 * limits, so that it doubles each time.
 * @param waited the time for which the job has waited, an interval
 */
export function retryPause(sql: Sql, waited: SqlPart): SqlPart {
  return sql`(0.8 + random() * 0.4) * least(${pauses.mostSeconds} * interval '1 second',
    greatest(${pauses.firstSeconds} * interval '1 second', ${waited}))`;
}
