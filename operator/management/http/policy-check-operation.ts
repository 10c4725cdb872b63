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
    'Says whether the definition could be applied, and decides about each text. Nothing is stored or changed.',
  gates: ['identity', 'query', 'body'],
  parameters: [],
  body: 'PolicyCheck',
  success: { status: 200, description: 'The outcome.', schema: 'PolicyCheckResult', headers: [] },
  errors: bodyErrors,
  obligations: [],
  run: checkPolicy,
};

async function checkPolicy({ service, body }: ManagementRequest): Promise<ManagementResponse> {
  const { json } = body;
  if (json === undefined) return failure('invalid_json');
  const read = readShape(policyCheckSchema, json);
  if (!read.ok) return failure('invalid_body', detailsOf(read.problems));
  return success(await service.checkDefinition(read.value));
}
