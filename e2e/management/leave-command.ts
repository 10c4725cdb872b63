import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { changeToken, newPolicySpec } from '../../operator/management/policies/make-policy.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { policyNameOf } from './actions.ts';
import { newKey, type RunningManagement } from './start-management.ts';

/** A stored command about the model if there is a model, and about the policy otherwise. */
export type LeftRow = {
  readonly operationId: string;
  readonly policyId: string;
  readonly modelId?: string;
  readonly write: Readonly<Record<string, unknown>>;
  readonly kind: string;
  readonly ageMinutes?: number;
  /** The author; the administrator when absent. */
  readonly subject?: string;
  /** The objects whose freeze windows may refuse it, as type:id. */
  readonly objects?: readonly string[];
  readonly overridesFreeze?: boolean;
  /** How long a process still has the lease; when absent, recovery claims the command immediately. */
  readonly leaseSeconds?: number;
  /** The write that the row records as accepted. */
  readonly accepted?: { readonly uid: string; readonly generation: number };
};

/** Inserts a row as left by a process that was killed between writing the row and answering. @returns its key */
export async function leaveCommand(api: RunningManagement, row: LeftRow): Promise<string> {
  const { sql } = api.database.database;
  const { operationId, policyId, modelId, write, kind, ageMinutes = 0, accepted, subject = 'root-admin' } = row;
  const { objects = [], overridesFreeze = false, leaseSeconds = -1 } = row;
  const target = modelId === undefined ? 'policy' : 'model';
  const key = newKey();
  // Both rows are written in one transaction, as a process writes them: recovery refuses a command without its author.
  await sql.begin(async (transaction) => {
    await transaction`
      insert into management.operations
        (operation_id, kind, state, target_type, target_id, trace_id, write, accepted, written_uid, written_generation,
         objects, overrides_freeze, leased_until, created_at, updated_at)
      values (${operationId}, ${kind}, ${accepted === undefined ? 'pending' : 'running'}, ${target},
        ${modelId ?? policyId},
        ${'0'.repeat(32)}, ${JSON.stringify(write)}, ${accepted !== undefined}, ${accepted?.uid ?? null},
        ${accepted?.generation ?? null}, ${transaction.array([...objects])}::text[], ${overridesFreeze}, now() + ${leaseSeconds} * interval '1 second',
        now() - ${ageMinutes} * interval '1 minute', now())`;
    await transaction`
      insert into management.idempotency_keys (subject, key, fingerprint, operation_id, created_at)
      values (${`user:http%3A//issuer.test|${subject}`}, ${key}, 'none', ${operationId}, now())`;
  });
  return key;
}

let counter = 0;
const newId = (): string => `01900000-0000-7000-8000-${String(++counter).padStart(12, '0')}`;

/** A POST of a policy. */
export function createOf(name: string) {
  const operationId = newId();
  const policyId = newId();
  const spec = newPolicySpec({ name, description: '', definition: definitionOf(name) }, operationId);
  const write = { type: 'create_policy', objectName: `p-${policyId}`, spec };
  return { operationId, policyId, write, spec, kind: 'policy.create' };
}

/** A PUT of an existing policy that sets the description to the id of the operation. */
export async function replaceOf(client: KubeClient, policyId: string) {
  const object = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, await policyNameOf(client, policyId));
  if (object === undefined) throw new Error('there is no such policy');
  const { uid, generation, name } = object.metadata;
  const operationId = newId();
  const spec = { ...object.spec, description: operationId, change: changeToken(operationId, generation + 1) };
  const write = { type: 'replace_policy', objectName: name, uid, generation, spec };
  return { operationId, policyId, write, spec, kind: 'policy.update', uid, generation };
}

/** A PUT that takes the guardrail off a model. */
export function unbindOf(binding: Stored<ModelBinding>) {
  const operationId = newId();
  const { uid, generation, name, labels } = binding.metadata;
  const { contentProfile } = binding.spec;
  const guardrail = { mode: 'None' } as const;
  const write = { type: 'write_binding', objectName: name, uid, generation, guardrail, contentProfile, policyId: null };
  const modelId = String(labels?.[idLabel]);
  return { operationId, policyId: modelId, modelId, write, kind: 'binding.unbind' };
}

/** A PUT that applies the first revision of a policy to an existing model. */
export function applyOf(binding: Stored<ModelBinding>, policyId: string, policyName: string) {
  const operationId = newId();
  const { uid, generation, name, labels } = binding.metadata;
  const guardrail = { mode: 'Policy', policyRef: { name: policyName, revision: 1 } } as const;
  const { contentProfile } = binding.spec;
  const write = { type: 'write_binding', objectName: name, uid, generation, guardrail, contentProfile, policyId };
  return { operationId, policyId, modelId: String(labels?.[idLabel]), write, kind: 'binding.apply', guardrail };
}
