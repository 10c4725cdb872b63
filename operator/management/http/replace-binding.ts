import { type BindingWrite, bindingApplySchema, bindingUnbindSchema } from '#contracts/management';
import type { JsonValue } from '#kit/json/parse-strict';
import { kinds } from '#resources/kinds';
import type { ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { findPolicy } from '../policies/find-policy.ts';
import { describeIssues } from './describe-issues.ts';
import type { Exchange, Management } from './exchange.ts';
import { matchEtag, requireIfMatch } from './match-etag.ts';
import { readPathId } from './path-ids.ts';
import { type Refusal, type Reply, refuse } from './reply.ts';
import { type Planned, runCommand } from './run-command.ts';

/** PUT /api/v1/models/{modelId}/guardrail-binding: applies a version of a policy, or unbinds. */
export function replaceBinding(exchange: Exchange): Promise<Reply> {
  const modelId = readPathId(exchange.path['modelId']);
  return runCommand(exchange, {
    route: modelId === undefined ? refuse('invalid_path_id') : `PUT /api/v1/models/${modelId}/guardrail-binding`,
    gone: 'model_not_found',
    plan: (json) => plan(exchange, modelId ?? '', json),
  });
}

async function plan(
  { management, incoming }: Exchange,
  modelId: string,
  json: JsonValue | undefined,
): Promise<Planned> {
  const match = requireIfMatch(incoming);
  if (match.kind === 'refusal') return match;
  const binding = await management.models.find(modelId);
  if (binding === undefined) return refuse('model_not_found');
  const { name, uid, generation, deletionTimestamp } = binding.metadata;
  const mismatch = matchEtag(match, { type: 'model', id: modelId, uid, generation });
  if (mismatch !== undefined) return mismatch;
  if (json === undefined) return refuse('invalid_json');
  const body = parseBody(json);
  if (body.kind === 'refusal') return body;
  if (deletionTimestamp !== undefined) return refuse('model_deleting');
  const wanted = await guardrailOf(management, body.value);
  if (wanted.kind === 'refusal') return wanted;
  const { guardrail, policyId } = wanted;
  const { contentProfile } = body.value;
  return {
    kind: 'planned',
    command: {
      kind: policyId === null ? 'binding.unbind' : 'binding.apply',
      target: { type: 'model', id: modelId },
      write: { type: 'write_binding', objectName: name, uid, generation, guardrail, contentProfile, policyId },
    },
  };
}

/** Both nulls unbind; one of them is an apply that lacks the other member. */
function parseBody(json: JsonValue): { readonly kind: 'body'; readonly value: BindingWrite } | Refusal {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const isUnbind = isObject && json['policyId'] === null && json['policyRevision'] === null;
  const parsed = isUnbind ? bindingUnbindSchema.safeParse(json) : bindingApplySchema.safeParse(json);
  if (parsed.success) return { kind: 'body', value: parsed.data };
  return refuse('invalid_body', describeIssues(parsed.error));
}

type Wanted = {
  readonly kind: 'wanted';
  readonly guardrail: ModelBindingSpec['guardrail'];
  readonly policyId: string | null;
};

/** The policy is there, is not archived by its latest version, and has the revision (readings of document 3, 4 and 19). */
async function guardrailOf(management: Management, body: BindingWrite): Promise<Wanted | Refusal> {
  if (body.policyId === null) return { kind: 'wanted', guardrail: { mode: 'None' }, policyId: null };
  const { client, caches, recorder } = management;
  const policyId = body.policyId.toLowerCase();
  const policy = await findPolicy(client, caches, policyId);
  if (policy === undefined) return refuse('policy_revision_unknown');
  if (policy.metadata.deletionTimestamp !== undefined) return refuse('policy_deleting');
  // The latest version decides: what was written and is not recorded yet is one, where it is accepted.
  const latest = await recorder.record(policyId, policy);
  if (latest.kind === 'pending') return refuse('revision_pending');
  const lifecycle = latest.kind === 'recorded' ? latest.revision.lifecycle : caches.revisions(policyId)[0]?.lifecycle;
  const isThere = await hasRevision(management, policyId, body.policyRevision);
  if (!isThere) return refuse('policy_revision_unknown');
  if (lifecycle === 'Archived' || policy.spec.lifecycle === 'Archived') return refuse('policy_archived');
  const policyRef = { name: policy.metadata.name, revision: body.policyRevision };
  return { kind: 'wanted', guardrail: { mode: 'Policy', policyRef }, policyId };
}

async function hasRevision({ client, caches }: Management, policyId: string, number: number): Promise<boolean> {
  if (caches.revisions(policyId).some((revision) => revision.number === number)) return true;
  return (await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`)) !== undefined;
}
