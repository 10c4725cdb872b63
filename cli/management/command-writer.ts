import type { BindingWrite, PolicyDetail } from '#contracts/management';
import type { ApplyResult } from '#kube/apply/apply-manifest';
import { sameJson } from '#kube/apply/same-json';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { group, idLabel, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { CliError } from '../errors/cli-error.ts';
import { readResource } from '../resources/read-resource.ts';
import {
  changedConcurrently,
  type DesiredGuardrail,
  type Lifecycle,
  type ResourceWriter,
  refuseDeleting,
} from '../resources/resource-writer.ts';
import type { ManagementClient } from './client.ts';
import { awaitFinalOperation, refuseFailed } from './operation-end.ts';
import { policyOfManifest } from './policy-of-manifest.ts';

export type CommandWriterOptions = {
  readonly api: ManagementClient;
  readonly reader: KubeClient;
  /** Key of a repeated command. */
  readonly idempotencyKey?: string;
  /** Reason of the change. */
  readonly message?: string;
  /** Whether commands take effect even in freeze windows. */
  readonly overridesFreeze?: true;
};

/** How long to wait for the recording of a policy, seconds; the operator needs one pass for it. */
const recordingSeconds = 30;
/** `spec` members of a binding that a command can change. */
const changeable = new Set(['guardrail', 'contentProfile', 'apply']);

/** Writes by commands of the management API, each with the ETag of the state that was read. */
export function createCommandWriter(options: CommandWriterOptions): ResourceWriter {
  const { api, reader, ...key } = options;
  const { idempotencyKey } = key;

  async function applyToBinding(
    binding: Stored<ModelBinding>,
    { guardrail, contentProfile = binding.spec.contentProfile }: DesiredGuardrail,
  ): Promise<Stored<ModelBinding>> {
    refuseDeleting(binding);
    const modelId = idOf(binding);
    const { value, etag } = await api.getBinding(modelId);
    if (value.modelRevision !== binding.metadata.generation) throw changedConcurrently(binding);
    const wanted: BindingWrite =
      guardrail.mode === 'None'
        ? { policyId: null, policyRevision: null, contentProfile }
        : {
            policyId: idOf(await readPolicy(guardrail.policyRef.name)),
            policyRevision: guardrail.policyRef.revision,
            contentProfile,
          };
    const { operationId } = await api.replaceBinding(modelId, wanted, { etag, ...key });
    const written = await readResource<ModelBinding>(reader, kinds.modelBinding, binding.metadata.name);
    if (written.spec.apply !== operationId) throw changedConcurrently(binding);
    return written;
  }

  function readPolicy(name: string): Promise<Stored<GuardrailPolicy>> {
    return readResource<GuardrailPolicy>(reader, kinds.guardrailPolicy, name);
  }

  async function setLifecycle(policy: Stored<GuardrailPolicy>, lifecycle: Lifecycle): Promise<void> {
    refuseDeleting(policy);
    const { value: latest, etag } = await api.getPolicy(idOf(policy));
    const { name, description, definition } = latest;
    const status = statusOf(lifecycle);
    await recorded(await api.replacePolicy(latest.id, { name, description, definition, status }, { etag, ...key }));
  }

  async function recorded({ operationId }: { readonly operationId: string }): Promise<void> {
    refuseFailed(await awaitFinalOperation(api, operationId, recordingSeconds));
  }

  async function applyPolicy(wanted: GuardrailPolicy, base?: Stored<Resource>): Promise<ApplyResult> {
    const { metadata, spec } = wanted;
    const current = await policyOfManifest(reader, wanted);
    refuseOtherMetadata(kinds.guardrailPolicy, metadata, { current, base });
    refuseUncarried(metadata.name, spec, current);
    const { displayName: name, description, definition } = spec;
    if (current === undefined) {
      if (spec.lifecycle === 'Archived') {
        throw new CliError(
          'usage',
          `GuardrailPolicy ${metadata.name}: a new policy is a Draft: archive it afterwards.`,
        );
      }
      const accepted = await api.createPolicy({ name, description, definition }, key);
      await recorded(accepted);
      return { action: 'created', object: await policyOfId(accepted.target.id) };
    }
    refuseStale(metadata, current);
    const isDeleting = current.metadata.deletionTimestamp !== undefined;
    const status = statusOf(spec.lifecycle);
    const { value: latest, etag } = await api.getPolicy(idOf(current));
    if (!isDeleting && isSame(latest, { name, description, definition, status }) && idempotencyKey === undefined) {
      return { action: 'unchanged', object: current };
    }
    await recorded(await api.replacePolicy(latest.id, { name, description, definition, status }, { etag, ...key }));
    // The operator deletes the old object before it creates the policy again.
    if (isDeleting) return { action: 'restored', object: current };
    return { action: 'configured', object: await readPolicy(current.metadata.name) };
  }

  async function policyOfId(id: string): Promise<Stored<Resource>> {
    const { items } = await reader.list<GuardrailPolicy>(kinds.guardrailPolicy, { labelSelector: `${idLabel}=${id}` });
    const [found] = items;
    if (found !== undefined) return found;
    throw new CliError('conflict', 'The policy was deleted while it was created.');
  }

  async function applyBinding(wanted: ModelBinding, base?: Stored<Resource>): Promise<ApplyResult> {
    const { name } = wanted.metadata;
    const current = await reader.get<ModelBinding>(kinds.modelBinding, name);
    if (current === undefined) {
      throw new CliError(
        'usage',
        `The management API creates no ModelBinding: create ${name} with --via resources or kubectl.`,
      );
    }
    refuseStale(wanted.metadata, current);
    refuseOtherMetadata(kinds.modelBinding, wanted.metadata, { current, base });
    const other = differingMember(current.spec, wanted.spec);
    if (other !== undefined) {
      throw new CliError(
        'usage',
        `ModelBinding ${name}: spec.${other} cannot be changed over the management API: use --via resources.`,
      );
    }
    const { guardrail, contentProfile } = wanted.spec;
    const isUnchanged =
      sameJson(guardrail, current.spec.guardrail) &&
      contentProfile === current.spec.contentProfile &&
      wanted.spec.apply === undefined;
    if (isUnchanged) return { action: 'unchanged', object: current };
    return { action: 'configured', object: await applyToBinding(current, { guardrail, contentProfile }) };
  }

  return {
    applyToBinding,
    setLifecycle,
    // The schema of the kind has validated the resource.
    applyManifest: ({ kind, resource }, base) =>
      kind.kind === kinds.guardrailPolicy.kind
        ? applyPolicy(resource as GuardrailPolicy, base)
        : applyBinding(resource as ModelBinding, base),
  };
}

/** @throws CliError not_found */
function idOf({ kind, metadata }: Stored<Resource>): string {
  const id = metadata.labels?.[idLabel];
  if (id !== undefined) return id;
  throw new CliError('not_found', `The ${kind} ${metadata.name} has no id yet: try again in a moment.`);
}

function statusOf(lifecycle: Lifecycle): PolicyDetail['status'] {
  return lifecycle === 'Archived' ? 'archived' : 'draft';
}

function isSame(latest: PolicyDetail, wanted: Pick<PolicyDetail, 'name' | 'description' | 'definition' | 'status'>) {
  const { name, description, definition, status } = latest;
  return sameJson({ name, description, definition, status }, wanted);
}

/** Tests and refusal text are not part of the API: a manifest must not seem to change them. */
function refuseUncarried(
  name: string,
  spec: GuardrailPolicy['spec'],
  current: Stored<GuardrailPolicy> | undefined,
): void {
  for (const member of ['tests', 'refusalText'] as const) {
    if (spec[member] === undefined || sameJson(spec[member], current?.spec[member])) continue;
    throw new CliError(
      'usage',
      `GuardrailPolicy ${name}: spec.${member} cannot be changed over the management API: remove it, or use --via resources.`,
    );
  }
}

/**
 * The API has no labels and annotations of users: a manifest must not seem to change them. Annotations of the platform
 * belong to the command itself.
 */
function refuseOtherMetadata(
  { kind }: Kind,
  wanted: Resource['metadata'],
  { current, base }: { readonly current: Stored<Resource> | undefined; readonly base: Stored<Resource> | undefined },
): void {
  for (const member of ['labels', 'annotations'] as const) {
    const now = current?.metadata[member] ?? {};
    const added = Object.entries(wanted[member] ?? {}).filter(([key, value]) => now[key] !== value);
    const removed = Object.entries(base?.metadata[member] ?? {}).filter(([key]) => wanted[member]?.[key] === undefined);
    const [changed] = [...added, ...removed].map(([key]) => key).filter((key) => !key.startsWith(`${group}/`));
    if (changed === undefined) continue;
    throw new CliError(
      'usage',
      `${kind} ${wanted.name}: metadata.${member} cannot be changed over the management API, and ${changed} would be: ` +
        'leave it as it is, or use --via resources.',
    );
  }
}

/** A manifest that was written from an older generation is refused, so that no concurrent change is lost. */
function refuseStale({ generation, uid }: Resource['metadata'], current: Stored<ModelBinding | GuardrailPolicy>): void {
  const isOther = uid !== undefined && uid !== current.metadata.uid;
  if (!isOther && (generation === undefined || generation === current.metadata.generation)) return;
  throw changedConcurrently(current as Stored<ModelBinding>);
}

function differingMember(current: ModelBinding['spec'], wanted: ModelBinding['spec']): string | undefined {
  const members = Object.keys({ ...current, ...wanted }) as (keyof ModelBinding['spec'])[];
  return members.find((member) => !changeable.has(member) && !sameJson(current[member], wanted[member]));
}
