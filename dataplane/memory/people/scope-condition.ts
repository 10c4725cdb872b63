import type { Sql, TransactionSql } from '#sql/connect';

/** The condition that a row belongs to a scope; null matches every value. */
export function inScope(
  sql: Sql | TransactionSql,
  { agentId, runId }: { readonly agentId: string | null; readonly runId: string | null },
) {
  return sql`
    (${agentId}::text is null or agent_id = ${agentId}) and (${runId}::text is null or run_id = ${runId})`;
}
