import type { Sql, TransactionSql } from '#sql/connect';
import { type ApprovalDemand, objectsOf } from '../../approval-demand.ts';
import type { NewCommand } from '../../ports.ts';

/** Whether a policy or model of a demand asks for an approval. */
export async function isApprovalAsked(sql: Sql | TransactionSql, demand: ApprovalDemand): Promise<boolean> {
  const rules = await sql`select from management.approval_rules
    where target_type || ':' || target_id::text in ${sql([...objectsOf(demand)])} limit 1`;
  return rules.length > 0;
}

/**
 * Uses the approval that a command needs, in the transaction that stores the command.
 * @returns false if a policy or model asks for an approval and the caller has none for this content
 */
export async function useApproval(
  sql: TransactionSql,
  { operationId, subject, approval }: Pick<NewCommand, 'operationId' | 'subject' | 'approval'>,
): Promise<boolean> {
  if (approval === undefined) return true;
  if (!(await isApprovalAsked(sql, approval))) return true;
  const used = await sql`update management.approvals set used_by = ${operationId} where approval_id = (
    select approval_id from management.approvals
    where requester = ${subject} and digest = ${approval.digest} and approved_at is not null and used_by is null
      and expires_at > clock_timestamp()
    limit 1 for update skip locked)
    returning approval_id`;
  return used.length > 0;
}
