import { policyCreateSchema } from '#contracts/management';
import { fitsIntoRevision } from '../../revisions/fits-into-revision.ts';
import { newPolicySpec, policyObjectName } from '../policies/make-policy.ts';
import { describeIssues } from './describe-issues.ts';
import type { Exchange } from './exchange.ts';
import { type Reply, refuse } from './reply.ts';
import { runCommand } from './run-command.ts';

/** POST /api/v1/guardrail-policies: a new policy and its first version. */
export function createPolicy(exchange: Exchange): Promise<Reply> {
  return runCommand(exchange, {
    route: 'POST /api/v1/guardrail-policies',
    gone: 'policy_not_found',
    plan: async (json, operationId) => {
      if (json === undefined) return refuse('invalid_json');
      const body = policyCreateSchema.safeParse(json);
      if (!body.success) return refuse('invalid_body', describeIssues(body.error));
      if (!fitsIntoRevision(body.data.definition)) return refuse('definition_too_large');
      const id = exchange.management.newId();
      return {
        kind: 'planned',
        command: {
          kind: 'policy.create',
          target: { type: 'policy', id },
          write: {
            type: 'create_policy',
            objectName: policyObjectName(id),
            spec: newPolicySpec(body.data, operationId),
          },
        },
      };
    },
  });
}
