import { policyReplaceSchema } from '#contracts/management';
import type { JsonValue } from '#kit/json/parse-strict';
import { type GuardrailPolicy, guardrailPolicySpecSchema, type PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { fitsIntoRevision } from '../../revisions/fits-into-revision.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { changeToken, nextPolicySpec } from '../policies/make-policy.ts';
import { describeIssues } from './describe-issues.ts';
import type { Exchange, Management } from './exchange.ts';
import { matchEtag, requireIfMatch } from './match-etag.ts';
import { readPathId } from './path-ids.ts';
import { type Reply, refuse } from './reply.ts';
import { type Planned, runCommand } from './run-command.ts';

/** PUT /api/v1/guardrail-policies/{policyId}: a new complete version. */
export function replacePolicy(exchange: Exchange): Promise<Reply> {
  const policyId = readPathId(exchange.path['policyId']);
  return runCommand(exchange, {
    route: policyId === undefined ? refuse('invalid_path_id') : `PUT /api/v1/guardrail-policies/${policyId}`,
    gone: 'policy_not_found',
    plan: (json, operationId) => plan(exchange, policyId ?? '', json, operationId),
  });
}

async function plan(
  { management, incoming }: Exchange,
  policyId: string,
  json: JsonValue | undefined,
  operationId: string,
): Promise<Planned> {
  const match = requireIfMatch(incoming);
  if (match.kind === 'refusal') return match;
  const policy = await findPolicy(management.client, management.caches, policyId);
  if (policy === undefined) return refuse('policy_not_found');
  const { name, uid, generation, deletionTimestamp } = policy.metadata;
  const mismatch = matchEtag(match, { type: 'policy', id: policyId, uid, generation });
  if (mismatch !== undefined) return mismatch;
  if (json === undefined) return refuse('invalid_json');
  const body = policyReplaceSchema.safeParse(json);
  if (!body.success) return refuse('invalid_body', describeIssues(body.error));
  if (!fitsIntoRevision(body.data.definition)) return refuse('definition_too_large');
  if (deletionTimestamp !== undefined) return refuse('policy_deleting');
  // What is there now becomes a revision before it is replaced.
  const record = await management.recorder.record(policyId, policy);
  if (record.kind === 'pending') return refuse('revision_pending');
  const tests = await testsOf(management, policyId, policy);
  if (!fitsIntoRevision(body.data.definition, tests)) return refuse('definition_too_large');
  const spec = nextPolicySpec(body.data, tests, changeToken(operationId, generation + 1));
  return {
    kind: 'planned',
    command: {
      kind: 'policy.update',
      target: { type: 'policy', id: policyId },
      write: { type: 'replace_policy', objectName: name, uid, generation, spec },
    },
  };
}

/** The tests as they stand; those of the newest revision where what stands is not accepted. */
async function testsOf(
  { client, caches }: Management,
  policyId: string,
  policy: Stored<GuardrailPolicy>,
): Promise<readonly PolicyTest[] | undefined> {
  const tests = guardrailPolicySpecSchema.shape.tests.safeParse(policy.spec.tests);
  if (tests.success) return tests.data;
  const newest = caches.revisions(policyId)[0];
  if (newest === undefined) return undefined;
  return (await client.get<PolicyRevision>(kinds.policyRevision, newest.objectName))?.spec.tests;
}
