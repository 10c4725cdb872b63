import { v7 as uuid } from 'uuid';
import type { AuditLog } from '#audit/ports';
import { type Approval, type ApprovalKind, approvalHours } from '#contracts/approvals';
import type { AuditAuthor, AuditState } from '#contracts/audit';
import type { Database } from '#sql/connect';
import { createRightsLock } from '../../../access/lock-rights.ts';
import type { ApprovalStore, ApprovingPerson } from '../../approval-ports.ts';
import { translated } from '../../translated.ts';
import { isApprovalAsked } from './use-approval.ts';

type ApprovalRow = {
  readonly approval_id: string;
  readonly kind: ApprovalKind;
  readonly target_type: 'policy' | 'model';
  readonly target_id: string;
  readonly digest: string;
  readonly after: string | null;
  readonly requester_author: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly approver_origin: string | null;
  readonly approved_at: Date | null;
};

const listed = 500;
/** Maximum number of open requests of one person without an approval. */
const openRequests = 100;
/** How long an expired request is kept: hours. */
const keptHours = 24;

/** Approvals in PostgreSQL, in the schema `management`. */
export function createApprovalStore({ sql }: Pick<Database, 'sql'>, audit: Pick<AuditLog, 'append'>): ApprovalStore {
  const columns = sql`approval_id, kind, target_type, target_id, digest, after, requester_author, created_at, expires_at,
    approver_origin, approved_at`;
  const locked = createRightsLock({ sql });
  const open = sql`used_by is null and expires_at > clock_timestamp()`;

  return {
    list: () =>
      translated(async () => {
        const rows = await sql<ApprovalRow[]>`
          select ${columns} from management.approvals where ${open} order by created_at desc limit ${listed}`;
        return rows.map(approvalOfRow);
      }),
    get: (id) =>
      translated(async () => {
        const [row] = await sql<ApprovalRow[]>`
          select ${columns} from management.approvals where approval_id = ${id} and ${open}`;
        return row === undefined ? undefined : approvalOfRow(row);
      }),
    request: ({ kind, target, digest, after, requester, author }) =>
      translated(async () => {
        const [held] = await sql<{ approval_id: string }[]>`
          select approval_id from management.approvals where requester = ${requester} and digest = ${digest} and ${open}`;
        if (held !== undefined) return held.approval_id;
        // If a client sends requests indefinitely, only its newest requests are kept.
        await sql`delete from management.approvals where expires_at < clock_timestamp() - ${keptHours} * interval '1 hour'
          or approval_id in (select approval_id from management.approvals
            where requester = ${requester} and approved_at is null and used_by is null
            order by created_at desc offset ${openRequests - 1})`;
        const id = uuid();
        await sql`insert into management.approvals
            (approval_id, kind, target_type, target_id, digest, after, requester, requester_author, created_at, expires_at)
          values (${id}, ${kind}, ${target.type}, ${target.id}, ${digest},
            ${after === null ? null : JSON.stringify(after)}, ${requester}, ${JSON.stringify(author)}, clock_timestamp(),
            clock_timestamp() + ${approvalHours} * interval '1 hour')`;
        return id;
      }),
    approve: (id, { subject, author, groups }, { isAllowed, entry }) =>
      translated(() =>
        locked(async (transaction) => {
          if (!(await isAllowed())) return 'not_allowed';
          const [row] = await transaction`
            update management.approvals set approver = ${subject}, approved_at = clock_timestamp(),
              approver_origin = ${JSON.stringify({ author, groups } satisfies ApprovingPerson)}
            where approval_id = ${id} and requester <> ${subject} and ${open}
            returning approval_id`;
          if (row === undefined) return 'gone';
          await audit.append(transaction, [entry]);
          return 'approved';
        }),
      ),
    approverOf: (operationId) =>
      translated(async () => {
        const [row] = await sql<{ approver_origin: string; isValid: boolean }[]>`
          select approver_origin, expires_at > clock_timestamp() as "isValid" from management.approvals
          where used_by = ${operationId}`;
        if (row === undefined) return undefined;
        return { ...(JSON.parse(row.approver_origin) as ApprovingPerson), isValid: row.isValid };
      }),
    isLacking: (operationId) =>
      translated(async () => {
        const rows = await sql`select from management.operations o
          join management.approval_rules r on r.target_type || ':' || r.target_id::text = any (o.objects)
          where o.operation_id = ${operationId}
            and not exists (select from management.approvals where used_by = o.operation_id) limit 1`;
        return rows.length > 0;
      }),
    needed: (demand, requester) =>
      translated(async () => {
        if (!(await isApprovalAsked(sql, demand))) return undefined;
        const [row] = await sql<{ approval_id: string; approver_origin: string | null }[]>`
          select approval_id, approver_origin from management.approvals
          where requester = ${requester} and digest = ${demand.digest} and ${open}
          order by approved_at nulls last limit 1`;
        const given = row?.approver_origin ?? null;
        return {
          open: row?.approval_id,
          approver: given === null ? undefined : (JSON.parse(given) as ApprovingPerson),
        };
      }),
    rules: () =>
      translated(async () => {
        const rows = await sql<{ target_type: 'policy' | 'model'; target_id: string }[]>`
          select target_type, target_id from management.approval_rules order by target_type, target_id`;
        return rows.map((row) => ({ type: row.target_type, id: row.target_id }));
      }),
    setRule: ({ type, id }, isRequired, { isAllowed, entry }) =>
      translated(() =>
        locked(async (transaction) => {
          if (!(await isAllowed())) return 'not_allowed';
          const rows = isRequired
            ? await transaction`insert into management.approval_rules (target_type, target_id) values (${type}, ${id})
                on conflict do nothing returning target_id`
            : await transaction`delete from management.approval_rules
                where target_type = ${type} and target_id = ${id} returning target_id`;
          if (rows.length > 0) await audit.append(transaction, [entry]);
          return rows.length > 0 ? 'changed' : 'unchanged';
        }),
      ),
  };
}

function approvalOfRow(row: ApprovalRow): Approval {
  const approver = row.approver_origin === null ? null : (JSON.parse(row.approver_origin) as ApprovingPerson).author;
  return {
    id: row.approval_id,
    kind: row.kind,
    target: { type: row.target_type, id: row.target_id },
    digest: row.digest,
    after: row.after === null ? null : (JSON.parse(row.after) as AuditState),
    requester: JSON.parse(row.requester_author) as AuditAuthor,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    approvedAt: row.approved_at?.toISOString() ?? null,
    approver,
  };
}
