import { detailsOf } from '#api/details-of';
import { type ApiOperation, failure, success } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { AuditAction, AuditContent } from '#contracts/audit';
import { type Freeze, newFreezeSchema } from '#contracts/freezes';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { readShape } from '#contracts/read-shape';
import { awaitUndecided } from '../access/await-undecided.ts';
import type { ManagementCaller } from '../access/management-caller.ts';
import { roleRight } from '../access/required-right.ts';
import { approvalEntry } from '../operations/approve-command.ts';
import type { CommandTarget } from '../operations/command-record.ts';
import { freezeWindow } from '../operations/freeze-window.ts';
import type { Management, ManagementError, ManagementRequest, ManagementResponse } from './management.ts';
import { missingTarget, missingTargets } from './missing-target.ts';
import { bodyErrors, usualSuccess } from './operation-parts.ts';
import { idParameter } from './path-ids.ts';

export const freezeOperationNames = ['listFreezes', 'setFreeze', 'removeFreeze'] as const;
type FreezeOperation = (typeof freezeOperationNames)[number];

type Row = ApiOperation<Management, ManagementCaller, ManagementErrorCode, FreezeOperation>;

const common = { tag: 'Freezes', obligations: [] } as const;

/** Routes outside of the contract: windows in which commands on a policy or model are refused. */
export const freezeOperations: readonly Row[] = [
  {
    ...common,
    name: 'listFreezes',
    method: 'GET',
    path: '/api/v1/freezes',
    summary: 'List freeze windows',
    description: 'Windows that have not ended, the next one first.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('Freezes'),
    errors: ['records_unavailable'],
    run: async ({ service }) => success({ items: await service.freezes.list() }),
  },
  {
    ...common,
    name: 'setFreeze',
    method: 'POST',
    path: '/api/v1/freezes',
    summary: 'Set a freeze window',
    description:
      'In the window, applications, unbinds and archivings of the policy or model are refused. After the answer to a ' +
      'window that has begun no such command takes effect.',
    gates: ['identity', 'query', 'body', 'right'],
    parameters: [],
    body: 'NewFreeze',
    success: usualSuccess('Freeze'),
    errors: [...bodyErrors, ...missingTargets, 'freeze_quota_reached', 'resources_unavailable', 'records_unavailable'],
    run: setFreeze,
  },
  {
    ...common,
    name: 'removeFreeze',
    method: 'POST',
    path: '/api/v1/freezes/{freezeId}/remove',
    summary: 'Remove a freeze window',
    description: 'Commands on the policy or model are no longer refused by this window.',
    gates: ['identity', 'query', 'path'],
    parameters: [idParameter('freezeId', 'The id of the window, a UUID of version 7.')],
    success: usualSuccess('Freeze'),
    errors: ['invalid_path_id', 'freeze_not_found', 'records_unavailable'],
    run: removeFreeze,
  },
];

/** The refusal of a command in a freeze window. */
export function changeFrozen(until: Date): ManagementError {
  return failure('change_frozen', [{ path: '/freezes', message: `a window is in force until ${until.toISOString()}` }]);
}

async function setFreeze(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, body } = request;
  const { store, clock } = service.commands;
  if (body.json === undefined) return failure('invalid_json');
  const read = readShape(newFreezeSchema, body.json);
  if (!read.ok) return failure('invalid_body', detailsOf(read.problems));
  const given = freezeWindow(read.value, clock.date());
  if (!given.ok) return failure('invalid_body', [given.problem]);
  const target: CommandTarget =
    'policyId' in read.value
      ? { type: 'policy', id: read.value.policyId.toLowerCase() }
      : { type: 'model', id: read.value.modelId.toLowerCase() };
  const missing = await missingTarget(service, target);
  if (missing !== undefined) return missing;
  const freeze: Freeze = { id: service.newId(), target, ...given.window };
  const entry = entryOf('freeze.set', freeze, request);
  const result = await service.freezes.add(freeze, { isAllowed: () => mayAdminister(request), entry });
  if (result === 'not_allowed') return failure('permission_denied');
  if (result === 'full') return failure('freeze_quota_reached');
  return (await awaitUndecided(store, clock)) ? success(freeze) : failure('records_unavailable');
}

async function removeFreeze(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, path } = request;
  const removed = await service.freezes.remove(path('freezeId'), {
    isAllowed: () => mayAdminister(request),
    entryOf: (freeze) => entryOf('freeze.remove', freeze, request),
  });
  if (removed === 'not_allowed') return failure('permission_denied');
  return removed === 'unknown' ? failure('freeze_not_found') : success(removed);
}

/** Whether the caller may administer; this is checked again while the lock of all changes of rights is held. */
function mayAdminister({ service, caller }: ManagementRequest): Promise<boolean> {
  return service.commands.rights.has(caller, roleRight('administer'));
}

function entryOf(
  action: AuditAction,
  { target, startsAt, endsAt }: Freeze,
  { service, caller, incoming, traceId }: ManagementRequest,
): AuditContent {
  const call = { caller, client: clientClassOf(incoming.socket.remoteAddress), traceId };
  return { ...approvalEntry(action, target, call, service.commands.clock.date()), window: { startsAt, endsAt } };
}
