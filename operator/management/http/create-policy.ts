import { detailsOf } from '#api/details-of';
import { failure } from '#api/operation';
import { digestOf } from '#contracts/canonical';
import { policyCreateSchema } from '#contracts/management';
import { readShape } from '#contracts/read-shape';
import { fitsIntoRevision } from '../../revisions/fits-into-revision.ts';
import { freeObjectName } from '../policies/free-object-name.ts';
import { newPolicySpec, policyObjectName } from '../policies/make-policy.ts';
import { savedBytes } from '../policies/quotas.ts';
import type { ManagementRequest, ManagementResponse } from './management.ts';
import { runCommand } from './run-command.ts';

/** Creates a policy and its first version. */
export function createPolicy(request: ManagementRequest): Promise<ManagementResponse> {
  const { client, caches, newId, quotas } = request.service;
  return runCommand(request, {
    method: 'POST',
    path: '/api/v1/guardrail-policies',
    gone: 'policy_not_found',
    plan: async (json, operationId, isRepeated) => {
      if (json === undefined) return failure('invalid_json');
      const body = readShape(policyCreateSchema, json);
      if (!body.ok) return failure('invalid_body', detailsOf(body.problems));
      if (!fitsIntoRevision(body.value.definition)) return failure('definition_too_large');
      const bytes = savedBytes(body.value.definition);
      const exceeded = quotas.exceededBy({ isNewPolicy: true, bytes });
      if (exceeded !== undefined) return failure(exceeded);
      const id = newId();
      const spec = newPolicySpec(body.value, operationId);
      // A repetition means that another policy has taken the free name meanwhile.
      const named = { id, displayName: spec.displayName };
      const objectName = isRepeated ? policyObjectName(id) : await freeObjectName(client, caches, named);
      return {
        kind: 'planned',
        command: {
          kind: 'policy.create',
          approval: undefined,
          target: { type: 'policy', id },
          write: { type: 'create_policy', objectName, spec },
          saving: { bytes, needsRoom: true },
          before: null,
          after: { policyId: id, revision: null, digest: digestOf(spec.definition) },
        },
      };
    },
  });
}
