import { detailsOf } from '#api/details-of';
import { failure } from '#api/operation';
import { type BindingWrite, bindingApplySchema, bindingUnbindSchema, maxRevision } from '#contracts/management';
import { readShape } from '#contracts/read-shape';
import type { JsonValue } from '#kit/json/parse-strict';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { isMarked } from '#resources/purged-revision';
import { bindingDemand } from '../operations/approval-demand.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { requireIfMatch } from './etag.ts';
import type { Management, ManagementError, ManagementRequest, ManagementResponse } from './management.ts';
import { type PlannedCommand, runCommand } from './run-command.ts';

/** Applies a revision of a policy to a model, or unbinds the model. */
export function replaceBinding(request: ManagementRequest): Promise<ManagementResponse> {
  const modelId = request.path('modelId');
  return runCommand(request, {
    method: 'PUT',
    path: `/api/v1/models/${modelId}/guardrail-binding`,
    gone: 'model_not_found',
    plan: (json) => plan(request, modelId, json),
  });
}

async function plan(
  { service, incoming }: ManagementRequest,
  modelId: string,
  json: JsonValue | undefined,
): Promise<PlannedCommand> {
  const checkEtag = requireIfMatch(incoming);
  if (typeof checkEtag !== 'function') return checkEtag;
  const binding = await service.models.find(modelId);
  if (binding === undefined) return failure('model_not_found');
  const { uid, generation, deletionTimestamp } = binding.metadata;
  const mismatch = checkEtag({ type: 'model', id: modelId, uid, generation });
  if (mismatch !== undefined) return mismatch;
  if (json === undefined) return failure('invalid_json');
  const body = parseBindingWrite(json);
  if (body.kind === 'error') return body;
  if (deletionTimestamp !== undefined) return failure('model_deleting');
  const desired = await desiredGuardrail(service, body.value);
  if (desired.kind === 'error') return desired;
  const { guardrail, policyId } = desired;
  const { contentProfile, policyRevision } = body.value;
  const asked = { guardrail, policyId, policyRevision, contentProfile };
  const { write, before, approval } = await bindingWriteOf(service, binding, modelId, asked);
  return {
    kind: 'planned',
    command: {
      kind: policyId === null ? 'binding.unbind' : 'binding.apply',
      target: { type: 'model', id: modelId },
      write,
      saving: undefined,
      approval,
      before,
      after: policyId === null ? null : { policyId, revision: body.value.policyRevision, digest: null },
    },
  };
}

/** The write of a command on a binding, the state before it, and the approval that it may need. */
export async function bindingWriteOf(
  { models, caches }: Pick<Management, 'models' | 'caches'>,
  binding: Stored<ModelBinding>,
  modelId: string,
  asked: Pick<DesiredGuardrail, 'guardrail' | 'policyId'> & Pick<BindingWrite, 'contentProfile' | 'policyRevision'>,
) {
  const { name, uid, generation } = binding.metadata;
  const { guardrail, policyId, policyRevision, contentProfile } = asked;
  const { state: before, policyIds: replaced } = await models.stateOf(binding);
  const type = 'write_binding' as const;
  const write = { type, objectName: name, uid, generation, guardrail, contentProfile, policyId };
  const known = caches.revisions(policyId ?? '').find(({ number }) => number === policyRevision);
  const definitionDigest = known?.definitionDigest ?? null;
  const approval = bindingDemand(modelId, write, { definitionDigest, replaced });
  return { write, before, approval };
}

/** Two nulls unbind the model; with one null, the request is an application without the other member. */
export function parseBindingWrite(
  json: JsonValue,
): { readonly kind: 'body'; readonly value: BindingWrite } | ManagementError {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const isUnbind = isObject && json['policyId'] === null && json['policyRevision'] === null;
  const read = isUnbind ? readShape(bindingUnbindSchema, json) : readShape(bindingApplySchema, json);
  return read.ok ? { kind: 'body', value: read.value } : failure('invalid_body', detailsOf(read.problems));
}

type DesiredGuardrail = {
  readonly kind: 'desired';
  readonly guardrail: ModelBindingSpec['guardrail'];
  readonly policyId: string | null;
};

/** The policy exists, has the revision, and its latest version is not archived (management:archive:new-application-refused). */
async function desiredGuardrail(service: Management, body: BindingWrite): Promise<DesiredGuardrail | ManagementError> {
  if (body.policyId === null) return { kind: 'desired', guardrail: { mode: 'None' }, policyId: null };
  const { client, caches, recorder } = service;
  const policyId = body.policyId.toLowerCase();
  const policy = await findPolicy(client, caches, policyId);
  if (policy === undefined) return failure('policy_revision_unknown');
  if (policy.metadata.deletionTimestamp !== undefined) return failure('policy_deleting');
  // An accepted generation that is not recorded yet is the latest version.
  const latest = await recorder.record(policyId, policy);
  if (latest.kind === 'pending') return failure('revision_pending');
  const lifecycle = latest.kind === 'recorded' ? latest.revision.lifecycle : caches.revisions(policyId)[0]?.lifecycle;
  const fault = await revisionFault(service, policyId, body.policyRevision);
  if (fault !== undefined) return fault;
  if (lifecycle === 'Archived' || policy.spec.lifecycle === 'Archived') return failure('policy_archived');
  const policyRef = { name: policy.metadata.name, revision: body.policyRevision };
  return { kind: 'desired', guardrail: { mode: 'Policy', policyRef }, policyId };
}

/** A live read: a text that another replica removes now must not be taken for present. */
async function revisionFault(
  { client, caches }: Management,
  policyId: string,
  number: number,
): Promise<ManagementError | undefined> {
  if (number > maxRevision) return failure('policy_revision_unknown');
  const revision = await client.get<PolicyRevision>(policyRevisionHead, `${policyId}-${number}`);
  if (revision === undefined) return failure('policy_revision_unknown');
  const known = caches.revisions(policyId).find((one) => one.number === number);
  const isGone = isMarked(revision.metadata) || known?.purgeTime !== undefined;
  return isGone ? failure('policy_revision_purged') : undefined;
}

const policyRevisionHead = { ...kinds.policyRevision, metadataOnly: true } as const;
