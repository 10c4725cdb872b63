import { detailsOf } from '#api/details-of';
import { failure } from '#api/operation';
import { digestOf } from '#contracts/canonical';
import { policyReplaceSchema } from '#contracts/management';
import { readShape } from '#contracts/read-shape';
import type { JsonValue } from '#kit/json/parse-strict';
import { type GuardrailPolicy, guardrailPolicySpecSchema, type PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { fitsIntoRevision } from '../../revisions/fits-into-revision.ts';
import { archiveDemand } from '../operations/approval-demand.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { changeToken, nextPolicySpec } from '../policies/make-policy.ts';
import { isOnlyArchiving, savedBytes } from '../policies/quotas.ts';
import { requireIfMatch } from './etag.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { type PlannedCommand, runCommand } from './run-command.ts';

/** Saves a new complete version of a policy. A deletion that is not complete is cancelled. */
export function replacePolicy(request: ManagementRequest): Promise<ManagementResponse> {
  const policyId = request.path('policyId');
  return runCommand(request, {
    method: 'PUT',
    path: `/api/v1/guardrail-policies/${policyId}`,
    gone: 'policy_not_found',
    plan: (json, operationId) => plan(request, policyId, json, operationId),
  });
}

async function plan(
  { service, incoming }: ManagementRequest,
  policyId: string,
  json: JsonValue | undefined,
  operationId: string,
): Promise<PlannedCommand> {
  const checkEtag = requireIfMatch(incoming);
  if (typeof checkEtag !== 'function') return checkEtag;
  const policy = await findPolicy(service.client, service.caches, policyId);
  if (policy === undefined) return failure('policy_not_found');
  const { name, uid, generation, deletionTimestamp } = policy.metadata;
  const mismatch = checkEtag({ type: 'policy', id: policyId, uid, generation });
  if (mismatch !== undefined) return mismatch;
  if (json === undefined) return failure('invalid_json');
  const body = readShape(policyReplaceSchema, json);
  if (!body.ok) return failure('invalid_body', detailsOf(body.problems));
  if (!fitsIntoRevision(body.value.definition)) return failure('definition_too_large');
  // The live generation is recorded as a revision before it is replaced, so that no version is lost.
  const record = await service.recorder.record(policyId, policy);
  if (record.kind === 'pending') return failure('revision_pending');
  const tests = await liveTestsOf(service, policyId, policy);
  if (!fitsIntoRevision(body.value.definition, tests)) return failure('definition_too_large');
  const bytes = savedBytes(body.value.definition, tests);
  const needsRoom = !isOnlyArchiving(policy.spec, body.value);
  const exceeded = needsRoom ? service.quotas.exceededBy({ isNewPolicy: false, bytes }) : undefined;
  if (exceeded !== undefined) return failure(exceeded);
  const spec = nextPolicySpec(
    body.value,
    { tests, refusalText: policy.spec.refusalText },
    changeToken(operationId, generation + 1),
  );
  const isArchiving = spec.lifecycle === 'Archived' && policy.spec.lifecycle === 'Draft';
  return {
    kind: 'planned',
    command: {
      kind: 'policy.update',
      approval: isArchiving ? archiveDemand(policyId, { uid, generation, spec }) : undefined,
      target: { type: 'policy', id: policyId },
      write: {
        ...{ type: 'replace_policy', objectName: name, uid, generation, spec },
        ...(deletionTimestamp === undefined ? {} : { keep: deletionTimestamp }),
      },
      saving: { bytes, needsRoom },
      before: {
        policyId,
        revision: record.kind === 'recorded' ? record.revision.number : null,
        digest: digestOf(policy.spec.definition),
      },
      after: { policyId, revision: null, digest: digestOf(spec.definition) },
    },
  };
}

/** The tests of the live policy; if they are invalid, the tests of the newest revision. */
export async function liveTestsOf(
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
