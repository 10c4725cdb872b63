import type { Sql, TransactionSql } from '#sql/connect';

type Scope = { readonly agentId: string | null; readonly runId: string | null };

/** The condition that a row belongs to a scope; null matches every value. */
export function inScope(sql: Sql | TransactionSql, { agentId, runId }: Scope) {
  return sql`
    (${agentId}::text is null or agent_id = ${agentId}) and (${runId}::text is null or run_id = ${runId})`;
}

/**
 * The condition for live and deleted memories of a person, which the indexes of agents and runs support: no row of
 * another agent or run is read.
 */
export function inIndexedScope(sql: Sql | TransactionSql, { agentId, runId }: Scope) {
  const ofAgent = sql`hashtextextended(agent_id, 0) = hashtextextended(${agentId}, 0) and agent_id = ${agentId}`;
  const ofRun = sql`hashtextextended(run_id, 0) = hashtextextended(${runId}, 0) and run_id = ${runId}`;
  return sql`${agentId === null ? sql`true` : ofAgent} and ${runId === null ? sql`true` : ofRun}`;
}
