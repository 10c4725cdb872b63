import { failure } from '#api/operation';
import type { DryRunRefusal } from '#contracts/dry-run';
import { managementErrors } from '#contracts/management-errors';
import { rightOfCommand, roleRight } from '../access/required-right.ts';
import { type ApprovalDemand, objectsOf } from '../operations/approval-demand.ts';
import { sharePerson } from '../operations/approve-command.ts';
import type { CommandTarget } from '../operations/command-record.ts';
import { approvalRequired } from './approval-operations.ts';
import { changeFrozen } from './freeze-operations.ts';
import type { ManagementError, ManagementRequest } from './management.ts';
import { readOverride } from './read-override.ts';

/**
 * A command that is checked but not sent; `approval` is undefined for a command that no freeze window and no approval
 * rule can refuse.
 */
type ForeseenCommand = {
  readonly kind: 'policy.update' | 'binding.apply' | 'binding.unbind';
  readonly target: CommandTarget;
  readonly approval: ApprovalDemand | undefined;
};

/**
 * The errors with which the command would be refused now, in the order of their checks. No approval is requested or
 * used.
 * @returns the error of the dry run itself for a header that overrides freeze windows without the right
 */
export async function foreseeRefusals(
  { service, caller, incoming }: ManagementRequest,
  command: ForeseenCommand,
): Promise<{ readonly kind: 'foreseen'; readonly refusals: readonly DryRunRefusal[] } | ManagementError> {
  const { approvals, freezes, commands } = service;
  const override = readOverride(incoming.rawHeaders);
  if (override.kind === 'error') return override;
  const { overridesFreeze } = override;
  if (overridesFreeze && !(await commands.rights.has(caller, roleRight('administer')))) {
    return failure('permission_denied');
  }
  const { approval } = command;
  if (approval === undefined) return { kind: 'foreseen', refusals: [] };
  const until = overridesFreeze ? undefined : await freezes.inForce(objectsOf(approval));
  const frozen = until === undefined ? [] : [refusalOf(changeFrozen(until))];
  const needed = await approvals.needed(approval, caller.subject);
  const approver = needed?.approver;
  const isApproved =
    approver !== undefined &&
    !sharePerson(approver.author, caller.author) &&
    (await commands.rights.has(approver, rightOfCommand(command)));
  const isUnapproved = needed !== undefined && !isApproved;
  // An approval by a person who has lost the right is used up by the command, which then needs another approval.
  const request = approver === undefined ? needed?.open : undefined;
  return { kind: 'foreseen', refusals: [...frozen, ...(isUnapproved ? [refusalOf(approvalRequired(request))] : [])] };
}

function refusalOf({ code, details = [] }: ManagementError): DryRunRefusal {
  if (code !== 'change_frozen' && code !== 'approval_required')
    throw new TypeError(`no command is refused with ${code}`);
  return { code, message: managementErrors[code].meaning, details: [...details] };
}
