import type { Sql, TransactionSql } from '#sql/connect';
import { type ApprovalDemand, objectsOf } from '../../approval-demand.ts';
import type { ApprovingPerson } from '../../approval-ports.ts';
import { sharePerson } from '../../approve-command.ts';
import type { NewCommand } from '../../ports.ts';

/** Whether a policy or model of the command requires an approval. */
export async function isApprovalAsked(sql: Sql | TransactionSql, demand: ApprovalDemand): Promise<boolean> {
  const rules = await sql`select from management.approval_rules
    where target_type || ':' || target_id::text in ${sql([...objectsOf(demand)])} limit 1`;
  return rules.length > 0;
}

/**
 * Uses the approval that a command needs, in the transaction that stores the command. The requester may have sent the
 * request without the agent through which it sends the command now, so the act chains are compared here, too.
 * @returns false if a policy or model requires an approval and the caller has none for this content
 */
export async function useApproval(
  sql: TransactionSql,
  { operationId, subject, approval, origin }: Pick<NewCommand, 'operationId' | 'subject' | 'approval' | 'origin'>,
): Promise<boolean> {
  if (approval === undefined) return true;
  if (!(await isApprovalAsked(sql, approval))) return true;
  const given = await sql<{ approval_id: string; approver_origin: string }[]>`
    select approval_id, approver_origin from management.approvals
    where requester = ${subject} and digest = ${approval.digest} and approved_at is not null and used_by is null
      and expires_at > clock_timestamp()
    for update skip locked`;
  const usable = given.find((row) => {
    const approver = JSON.parse(row.approver_origin) as ApprovingPerson;
    return !sharePerson(approver.author, origin.author);
  });
  if (usable === undefined) return false;
  await sql`update management.approvals set used_by = ${operationId} where approval_id = ${usable.approval_id}`;
  return true;
}
