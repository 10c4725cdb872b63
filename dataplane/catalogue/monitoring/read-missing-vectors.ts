import type { Sql } from '#sql/connect';

/** Listed agents that are found by their words only. */
export type MissingVectors = {
  /** Agents without a vector of the profile, at most `mostAgentsCounted`. */
  readonly missing: number;
  /** Agents whose text the model or the policy of the gateway refuses, at most `mostAgentsCounted`. */
  readonly refused: number;
};

/** A scrape reads no more rows of an index than this, and its cost does not depend on the number of agents. */
export const mostAgentsCounted = 10_000;

/**
 * Counts agents whose vector is missing, for one scrape. @param key of the vectors of the profile; undefined where no
 * agent needs a vector. @throws SqlUnavailableError
 */
export async function readMissingVectors(sql: Sql, key: string | undefined): Promise<MissingVectors> {
  if (key === undefined) return { missing: 0, refused: 0 };
  const most = mostAgentsCounted;
  const [row] = await sql<MissingVectors[]>`
    select (select count(*)::int from (
        (select from catalogue.entries where is_listed and vector is null limit ${most})
        union all (select from catalogue.entries where is_listed and vector is not null and profile_id < ${key} limit ${most})
        union all (select from catalogue.entries where is_listed and vector is not null and profile_id > ${key} limit ${most})
        limit ${most}) e) as missing,
      (select count(*)::int from (
        select from catalogue.entries where is_listed and octet_length(vector) = 0 and profile_id = ${key}
        limit ${most}) e) as refused`;
  return row ?? { missing: 0, refused: 0 };
}
