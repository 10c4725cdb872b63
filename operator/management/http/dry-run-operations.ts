import { detailsOf } from '#api/details-of';
import { type ApiOperation, failure, success } from '#api/operation';
import type { DryRunResult } from '#contracts/dry-run';
import { type BindingWrite, policyCreateSchema, policyReplaceSchema } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { currentProfile } from '#contracts/profiles';
import { readShape } from '#contracts/read-shape';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision, PolicyRevisionSpec } from '#resources/policy-revision';
import { isPurged } from '#resources/purged-revision';
import { findUpstream } from '../../environment/approved-providers.ts';
import { fitsIntoRevision } from '../../revisions/fits-into-revision.ts';
import { makeRevisionContent } from '../../revisions/resources/revision.ts';
import type { ManagementCaller } from '../access/management-caller.ts';
import { archiveDemand } from '../operations/approval-demand.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { newPolicySpec, nextPolicySpec, objectNamesFor } from '../policies/make-policy.ts';
import { isOnlyArchiving, savedBytes } from '../policies/quotas.ts';
import { foreseeRefusals } from './foresee-refusals.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { bodyErrors } from './operation-parts.ts';
import { modelIdParameter, policyIdParameter } from './path-ids.ts';
import { bindingWriteOf, parseBindingWrite } from './replace-binding.ts';
import { liveTestsOf } from './replace-policy.ts';

export const dryRunOperationNames = ['dryRunCreatePolicy', 'dryRunReplacePolicy', 'dryRunReplaceBinding'] as const;
type DryRunOperation = (typeof dryRunOperationNames)[number];

type Row = ApiOperation<Management, ManagementCaller, ManagementErrorCode, DryRunOperation>;

const common = {
  method: 'POST',
  tag: 'Dry runs',
  gates: ['identity', 'query', 'path', 'body'],
  success: { status: 200, description: 'The outcome of every check.', schema: 'DryRunResult', headers: [] },
  obligations: [],
} as const;
const savingQuotas = ['revision_quota_reached', 'storage_quota_reached'] as const;
const saved = 'Checks the body as the command would, and then an application of the saved version.';

/** Routes outside of the contract: a command below `/api/v1/dry-runs` is checked and not executed. */
export const dryRunOperations: readonly Row[] = [
  {
    ...common,
    name: 'dryRunCreatePolicy',
    path: '/api/v1/dry-runs/guardrail-policies',
    summary: 'Check the creation of a policy',
    description: saved,
    parameters: [],
    body: 'PolicyCreate',
    errors: [...bodyErrors, 'definition_too_large', 'policy_quota_reached', ...savingQuotas],
    run: dryRunCreatePolicy,
  },
  {
    ...common,
    name: 'dryRunReplacePolicy',
    path: '/api/v1/dry-runs/guardrail-policies/{policyId}',
    summary: 'Check a new version of a policy',
    description: saved,
    parameters: [policyIdParameter],
    body: 'PolicyReplace',
    errors: [...bodyErrors, 'invalid_path_id', 'policy_not_found', 'definition_too_large', ...savingQuotas],
    run: dryRunReplacePolicy,
  },
  {
    ...common,
    name: 'dryRunReplaceBinding',
    path: '/api/v1/dry-runs/models/{modelId}/guardrail-binding',
    summary: 'Check the application of a policy version to a model, or its unbind',
    description:
      'Makes every check of an application of this policy version to the model, and starts no runtime. For an unbind there is nothing to check: the answer says whether the command would be refused.',
    parameters: [modelIdParameter],
    body: 'BindingWrite',
    errors: [
      ...bodyErrors,
      'invalid_path_id',
      'model_not_found',
      'model_deleting',
      'policy_deleting',
      'policy_archived',
      'policy_revision_unknown',
      'policy_revision_purged',
    ],
    run: dryRunReplaceBinding,
  },
];

const draft = { kind: 'found', archived: false, deleting: false, idConflict: false } as const;
/** A version is saved for no model, so that no provider of a model is in question. */
const anyUpstream = {
  kind: 'approved',
  provider: '',
  endpoint: '',
  credential: undefined,
  enabled: true,
} as const;

async function dryRunCreatePolicy({ service, body }: ManagementRequest): Promise<ManagementResponse> {
  if (body.json === undefined) return failure('invalid_json');
  const read = readShape(policyCreateSchema, body.json);
  if (!read.ok) return failure('invalid_body', detailsOf(read.problems));
  if (!fitsIntoRevision(read.value.definition)) return failure('definition_too_large');
  const exceeded = service.quotas.exceededBy({ isNewPolicy: true, bytes: savedBytes(read.value.definition) });
  if (exceeded !== undefined) return failure(exceeded);
  const id = service.newId();
  const spec = newPolicySpec(read.value, id);
  const [name = id] = objectNamesFor(id, spec.displayName);
  const revision = { policyId: id, number: 1, ...makeRevisionContent({ name, uid: id, generation: 1 }, spec) };
  return success(
    await service.dryRun({
      revision,
      contentProfile: currentProfile,
      policy: { ...draft, id },
      upstream: anyUpstream,
      refusals: [],
    }),
  );
}

async function dryRunReplacePolicy(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, body, path } = request;
  const id = path('policyId');
  const policy = await findPolicy(service.client, service.caches, id);
  if (policy === undefined) return failure('policy_not_found');
  if (body.json === undefined) return failure('invalid_json');
  const read = readShape(policyReplaceSchema, body.json);
  if (!read.ok) return failure('invalid_body', detailsOf(read.problems));
  const tests = await liveTestsOf(service, id, policy);
  if (!fitsIntoRevision(read.value.definition, tests)) return failure('definition_too_large');
  const exceeded = isOnlyArchiving(policy.spec, read.value)
    ? undefined
    : service.quotas.exceededBy({ isNewPolicy: false, bytes: savedBytes(read.value.definition, tests) });
  if (exceeded !== undefined) return failure(exceeded);
  const spec = nextPolicySpec(read.value, { tests, refusalText: policy.spec.refusalText }, id);
  const isArchiving = spec.lifecycle === 'Archived' && policy.spec.lifecycle === 'Draft';
  const foreseen = await foreseeRefusals(request, {
    kind: 'policy.update',
    target: { type: 'policy', id },
    approval: isArchiving ? archiveDemand(id, { ...policy.metadata, spec }) : undefined,
  });
  if (foreseen.kind === 'error') return foreseen;
  const number = (service.caches.revisions(id)[0]?.number ?? 0) + 1;
  return success(
    await service.dryRun({
      revision: { policyId: id, number, ...makeRevisionContent(policy.metadata, spec) },
      contentProfile: currentProfile,
      policy: { ...draft, id, archived: spec.lifecycle === 'Archived' },
      upstream: anyUpstream,
      refusals: foreseen.refusals,
    }),
  );
}

async function dryRunReplaceBinding(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, body, path } = request;
  const binding = await service.models.find(path('modelId'));
  if (binding === undefined) return failure('model_not_found');
  if (body.json === undefined) return failure('invalid_json');
  const read = parseBindingWrite(body.json);
  if (read.kind === 'error') return read;
  if (binding.metadata.deletionTimestamp !== undefined) return failure('model_deleting');
  const { value } = read;
  return value.policyId === null
    ? dryRunUnbind(request, binding, value)
    : dryRunApply(request, binding, { ...value, policyId: value.policyId.toLowerCase() });
}

async function dryRunApply(
  request: ManagementRequest,
  binding: Stored<ModelBinding>,
  { policyId: id, policyRevision, contentProfile }: Extract<BindingWrite, { readonly policyId: string }>,
): Promise<ManagementResponse> {
  const { service, path } = request;
  const { client, caches, recorder } = service;
  const modelId = path('modelId');
  const policy = await findPolicy(client, caches, id);
  if (policy === undefined) return failure('policy_revision_unknown');
  if (policy.metadata.deletionTimestamp !== undefined) return failure('policy_deleting');
  const latest = await recorder.find(id, policy);
  const revision = await client.get<PolicyRevision>(kinds.policyRevision, `${id}-${policyRevision}`);
  if (revision === undefined) return failure('policy_revision_unknown');
  if (isPurged(revision)) return failure('policy_revision_purged');
  const lifecycle = latest.kind === 'recorded' ? latest.revision.lifecycle : caches.revisions(id)[0]?.lifecycle;
  if (lifecycle === 'Archived' || policy.spec.lifecycle === 'Archived') return failure('policy_archived');
  const guardrail = { mode: 'Policy', policyRef: { name: policy.metadata.name, revision: policyRevision } } as const;
  const asked = { guardrail, policyId: id, policyRevision, contentProfile };
  const { approval } = await bindingWriteOf(service, binding, modelId, asked);
  const foreseen = await foreseeRefusals(request, {
    kind: 'binding.apply',
    target: { type: 'model', id: modelId },
    approval,
  });
  if (foreseen.kind === 'error') return foreseen;
  const { provider } = binding.spec.model;
  const found = findUpstream(service.approved(), provider);
  const result = await service.dryRun({
    revision: revision.spec satisfies PolicyRevisionSpec,
    contentProfile,
    policy: { ...draft, id },
    upstream: found === undefined ? { kind: 'unknown', provider } : { ...anyUpstream, provider },
    refusals: foreseen.refusals,
  });
  return success(result);
}

/** An unbind starts nothing that could fail, so that only a refusal of the command is possible. */
async function dryRunUnbind(
  request: ManagementRequest,
  binding: Stored<ModelBinding>,
  { contentProfile }: BindingWrite,
): Promise<ManagementResponse> {
  const modelId = request.path('modelId');
  const asked = { guardrail: { mode: 'None' }, policyId: null, policyRevision: null, contentProfile } as const;
  const { approval } = await bindingWriteOf(request.service, binding, modelId, asked);
  const foreseen = await foreseeRefusals(request, {
    kind: 'binding.unbind',
    target: { type: 'model', id: modelId },
    approval,
  });
  if (foreseen.kind === 'error') return foreseen;
  const refusals = [...foreseen.refusals];
  return success({
    wouldApply: refusals.length === 0,
    error: null,
    checks: [],
    refusals,
    warnings: [],
  } satisfies DryRunResult);
}
