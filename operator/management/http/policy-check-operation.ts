import { detailsOf } from '#api/details-of';
import { type ApiOperation, failure, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { policyCheckSchema } from '#contracts/policy-check';
import { readShape } from '#contracts/read-shape';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { bodyErrors } from './operation-parts.ts';

/** A route outside of the contract: a definition and texts, checked as an application would check them. */
export const policyCheckOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'checkPolicy'> = {
  name: 'checkPolicy',
  method: 'POST',
  path: '/api/v1/policy-checks',
  tag: 'Policies',
  summary: 'Check a definition, and texts with its local rules',
  description:
    'Says whether the definition could be applied, and decides about each text. Nothing is stored or changed. ' +
    'The role author for one policy is enough.',
  gates: ['identity', 'query', 'body'],
  parameters: [],
  body: 'PolicyCheck',
  success: { status: 200, description: 'The outcome.', schema: 'PolicyCheckResult', headers: [] },
  errors: bodyErrors,
  obligations: [],
  run: checkPolicy,
};

async function checkPolicy({ service, caller, body }: ManagementRequest): Promise<ManagementResponse> {
  // The author of a single policy may save any definition as a new version of that policy, and may therefore check any
  // definition.
  if (caller.ownOnly === true && (await service.commands.rights.objects(caller, 'author', 'policy')).length === 0) {
    return failure('permission_denied');
  }
  const { json } = body;
  if (json === undefined) return failure('invalid_json');
  const read = readShape(policyCheckSchema, json);
  if (!read.ok) return failure('invalid_body', detailsOf(read.problems));
  return success(await service.checkDefinition(read.value));
}
