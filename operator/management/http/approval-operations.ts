import { detailsOf } from '#api/details-of';
import { type ApiOperation, failure, success } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import { approvalRuleSchema } from '#contracts/approvals';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { readShape } from '#contracts/read-shape';
import { awaitUndecided } from '../access/await-undecided.ts';
import type { ManagementCaller } from '../access/management-caller.ts';
import { roleRight } from '../access/required-right.ts';
import { approvalEntry, approveCommand, ownApprovals } from '../operations/approve-command.ts';
import type { CommandTarget } from '../operations/command-record.ts';
import type { Management, ManagementError, ManagementRequest, ManagementResponse } from './management.ts';
import { missingTarget, missingTargets } from './missing-target.ts';
import { bodyErrors, usualSuccess } from './operation-parts.ts';
import { idParameter } from './path-ids.ts';

export const approvalOperationNames = [
  'listApprovals',
  'approveCommand',
  'listApprovalRules',
  'requireApproval',
  'releaseApproval',
] as const;
type ApprovalOperation = (typeof approvalOperationNames)[number];

type Row = ApiOperation<Management, ManagementCaller, ManagementErrorCode, ApprovalOperation>;

const common = { tag: 'Approvals', obligations: [] } as const;

/** Routes outside of the contract: approvals by a second person, and the policies and models that require them. */
export const approvalOperations: readonly Row[] = [
  {
    ...common,
    name: 'listApprovals',
    method: 'GET',
    path: '/api/v1/approvals',
    summary: 'List approvals',
    description:
      'Commands that wait for the approval of a second person, or have it and were not repeated yet; newest first. ' +
      'A caller without the right to read all approvals gets the approvals of its own commands, and those that it may give.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('Approvals'),
    errors: ['records_unavailable'],
    run: listApprovals,
  },
  {
    ...common,
    name: 'approveCommand',
    method: 'POST',
    path: '/api/v1/approvals/{approvalId}/approve',
    summary: 'Approve a command of another person',
    description:
      'Needs the right of the command, now and when the command is carried out, and another subject than the requester. ' +
      'It is valid for one command with exactly this content and state, until it expires.',
    gates: ['identity', 'query', 'path'],
    parameters: [idParameter('approvalId', 'The id of the request, a UUID of version 7.')],
    success: usualSuccess('Approval'),
    errors: ['invalid_path_id', 'approval_not_found', 'approval_of_requester', 'records_unavailable'],
    run: approve,
  },
  {
    ...common,
    name: 'listApprovalRules',
    method: 'GET',
    path: '/api/v1/approval-rules',
    summary: 'List the policies and models that require approvals',
    description: 'Policies and models whose applications, unbinds and archivings need the approval of a second person.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('ApprovalRules'),
    errors: ['records_unavailable'],
    run: async ({ service }) => success({ items: (await service.approvals.rules()).map(ruleOf) }),
  },
  ...(['requireApproval', 'releaseApproval'] as const).map(
    (name): Row => ({
      ...common,
      name,
      method: 'POST',
      path: `/api/v1/approval-rules/${name === 'requireApproval' ? 'require' : 'release'}`,
      summary: name === 'requireApproval' ? 'Require approvals' : 'Stop requiring approvals',
      description:
        name === 'requireApproval'
          ? 'After the answer no command on the policy or model takes effect without the approval of a second person.'
          : 'From now on commands on the policy or model need no approval of a second person.',
      gates: ['identity', 'query', 'body', 'right'],
      parameters: [],
      body: 'ApprovalRule',
      success: usualSuccess('ChangedApprovalRule'),
      errors: [
        ...bodyErrors,
        ...(name === 'requireApproval' ? missingTargets : []),
        'resources_unavailable',
        'records_unavailable',
      ],
      run: (request) => changeRule(request, name === 'requireApproval'),
    }),
  ),
];

async function listApprovals({ service, caller }: ManagementRequest): Promise<ManagementResponse> {
  const items = await service.approvals.list();
  if (caller.ownOnly !== true) return success({ items });
  return success({ items: await ownApprovals(service.commands.rights, caller, items) });
}

async function approve(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, path } = request;
  const { rights, clock } = service.commands;
  const ports = { approvals: service.approvals, rights, clock };
  const result = await approveCommand(ports, path('approvalId'), callOf(request));
  switch (result.kind) {
    case 'approved':
      return success(result.approval);
    case 'unknown':
      return failure('approval_not_found');
    case 'no_right':
      return failure('permission_denied');
    case 'own':
      return failure('approval_of_requester');
  }
}

async function changeRule(request: ManagementRequest, isRequired: boolean): Promise<ManagementResponse> {
  const { service, body, caller } = request;
  const { store, clock, rights } = service.commands;
  if (body.json === undefined) return failure('invalid_json');
  const rule = readShape(approvalRuleSchema, body.json);
  if (!rule.ok) return failure('invalid_body', detailsOf(rule.problems));
  const target: CommandTarget =
    'policyId' in rule.value
      ? { type: 'policy', id: rule.value.policyId.toLowerCase() }
      : { type: 'model', id: rule.value.modelId.toLowerCase() };
  const missing = isRequired ? await missingTarget(service, target) : undefined;
  if (missing !== undefined) return missing;
  const action = isRequired ? 'approval.require' : 'approval.release';
  const entry = approvalEntry(action, target, callOf(request), clock.date());
  const isAllowed = (): Promise<boolean> => rights.has(caller, roleRight('administer'));
  const result = await service.approvals.setRule(target, isRequired, { isAllowed, entry });
  if (result === 'not_allowed') return failure('permission_denied');
  if (isRequired && !(await awaitUndecided(store, clock))) return failure('records_unavailable');
  return success({ rule: ruleOf(target), changed: result === 'changed' });
}

function callOf({ caller, incoming, traceId }: ManagementRequest) {
  return { caller, client: clientClassOf(incoming.socket.remoteAddress), traceId };
}

function ruleOf({ type, id }: CommandTarget) {
  return type === 'policy' ? { policyId: id } : { modelId: id };
}

/** @param id of the request; undefined before it exists */
export function approvalRequired(id: string | undefined): ManagementError {
  const path = id === undefined ? '/approvals' : `/approvals/${id}`;
  return failure('approval_required', [{ path, message: 'waits for the approval of another person' }]);
}
