import { type ApiOperation, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { OwnRights } from '#contracts/rights';
import type { ManagementCaller } from '../access/management-caller.ts';
import { roleRight } from '../access/required-right.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';

/** A route outside of the contract: the rights of the caller, so that a client offers only permitted commands. */
export const ownRightsOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'getOwnRights'> = {
  name: 'getOwnRights',
  method: 'GET',
  path: '/api/v1/own-rights',
  tag: 'Rights',
  summary: 'Read what the caller may do',
  description:
    'The current roles of the caller, for the control plane and for single policies and models. Needs no role.',
  gates: ['identity', 'query'],
  parameters: [],
  success: { status: 200, description: 'What was asked for.', schema: 'OwnRights', headers: [] },
  errors: [],
  obligations: [],
  run: getOwnRights,
};

async function getOwnRights({ service, caller }: ManagementRequest): Promise<ManagementResponse> {
  const { rights } = service.commands;
  const [view, author, apply, administer, policies, models, viewedPolicies, viewedModels] = await Promise.all([
    rights.has(caller, roleRight('viewer')),
    rights.has(caller, roleRight('author')),
    rights.has(caller, roleRight('applier')),
    rights.has(caller, roleRight('administer')),
    rights.objects(caller, 'author', 'policy'),
    rights.objects(caller, 'applier', 'model'),
    rights.objects(caller, 'viewer', 'policy'),
    rights.objects(caller, 'viewer', 'model'),
  ]);
  const own: OwnRights = { view, author, apply, administer, policies, models, viewedPolicies, viewedModels };
  return success(own);
}
