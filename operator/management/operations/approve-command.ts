import { isDeepStrictEqual } from 'node:util';
import { changeEntry } from '#audit/change-entry';
import type { Approval, ApprovalKind } from '#contracts/approvals';
import type { AuditAction, AuditAuthor, AuditContent, ClientClass } from '#contracts/audit';
import type { Clock } from '#kit/time/clock';
import type { ManagementCaller } from '../access/management-caller.ts';
import { type RequiredRight, roleRight } from '../access/required-right.ts';
import type { Rights } from '../access/rights.ts';
import type { ApprovalStore } from './approval-ports.ts';
import type { CommandTarget } from './command-record.ts';

type Request = { readonly caller: ManagementCaller; readonly client: ClientClass; readonly traceId: string };

type ApproveResult =
  | { readonly kind: 'approved'; readonly approval: Approval }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'no_right' }
  /** The caller, or an actor of the caller, is the requester. */
  | { readonly kind: 'own' };

/**
 * Approves a command for another person. The approver needs the right of the command, both now and when the command is
 * executed.
 */
export async function approveCommand(
  ports: { readonly approvals: ApprovalStore; readonly rights: Rights; readonly clock: Clock },
  id: string,
  { caller, client, traceId }: Request,
): Promise<ApproveResult> {
  const { approvals, rights, clock } = ports;
  const asked = await approvals.get(id);
  if (asked === undefined) return { kind: 'unknown' };
  if (sharePerson(asked.requester, caller.author)) return { kind: 'own' };
  const entry = approvalEntry('approval.grant', asked.target, { caller, client, traceId }, clock.date());
  const isAllowed = (): Promise<boolean> => rights.has(caller, rightOfApproval(asked));
  const result = await approvals.approve(id, caller, { isAllowed, entry: { ...entry, after: asked.after } });
  if (result === 'not_allowed') return { kind: 'no_right' };
  const approval = result === 'approved' ? await approvals.get(id) : undefined;
  return approval === undefined ? { kind: 'unknown' } : { kind: 'approved', approval };
}

/**
 * The approvals that a caller without the right to read all of them may read: requests of its own commands, and
 * requests of commands that it has the right to approve.
 */
export async function ownApprovals(
  rights: Pick<Rights, 'has'>,
  caller: ManagementCaller,
  items: readonly Approval[],
): Promise<readonly Approval[]> {
  // Many requests can concern one policy or model, so that each right is checked only once.
  const known = new Map<string, Promise<boolean>>();
  const mayApprove = (item: Approval): Promise<boolean> => {
    const right = rightOfApproval(item);
    const key = JSON.stringify(right);
    const answer = known.get(key) ?? rights.has(caller, right);
    known.set(key, answer);
    return answer;
  };
  const readable = await Promise.all(
    items.map(async (item) => isDeepStrictEqual(item.requester, caller.author) || (await mayApprove(item))),
  );
  return items.filter((_item, at) => readable[at]);
}

function rightOfApproval({
  kind,
  target,
}: {
  readonly kind: ApprovalKind;
  readonly target: CommandTarget;
}): RequiredRight {
  return kind === 'policy.archive'
    ? roleRight('author', 'policy', target.id)
    : roleRight('applier', 'model', target.id);
}

/** Whether two act chains have a subject in common: a person must not approve through its agent. */
export function sharePerson(one: AuditAuthor, other: AuditAuthor): boolean {
  const subjects = new Set(chainOf(one));
  return chainOf(other).some((subject) => subjects.has(subject));
}

function chainOf(author: AuditAuthor): readonly string[] {
  if (author.kind !== 'token') return [];
  return [author, ...author.actors].map(({ issuer, subject }) => JSON.stringify([issuer, subject]));
}

/** The entry of an approval or of a change of the rule that requires it. */
export function approvalEntry(
  action: AuditAction,
  target: CommandTarget,
  { caller, client, traceId }: Request,
  now: Date,
): AuditContent {
  return changeEntry({ action, target }, { author: caller.author, client, traceId }, now);
}
