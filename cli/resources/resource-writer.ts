import { v7 as uuidv7 } from 'uuid';
import { applyDesired } from '#kube/apply/apply';
import { type ApplyResult, applyManifest } from '#kube/apply/apply-manifest';
import { awaitRecordedWrite } from '#kube/apply/await-recorded-write';
import type { Manifest } from '#kube/apply/read-manifests';
import { withoutConfirmation } from '#kube/apply/without-confirmation';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { type ChangeNote, changeNoteAnnotation, writeChangeNote } from '#resources/change-note';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { confirmUnguardedAnnotation, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { Guardrail, ModelBinding } from '#resources/model-binding';
import { confirmationOf } from '#resources/protection';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';

export type DesiredGuardrail = {
  readonly guardrail: Guardrail;
  /** Another content profile; by default the profile of the binding. */
  readonly contentProfile?: string;
};

export type Lifecycle = GuardrailPolicy['spec']['lifecycle'];

/**
 * The writes of the command line. Each has a precondition: an object that was changed since it was read is refused with
 * `conflict`.
 */
export type ResourceWriter = {
  /** Starts an application: the guardrail with a new token. */
  applyToBinding(binding: Stored<ModelBinding>, desired: DesiredGuardrail): Promise<Stored<ModelBinding>>;
  /** Saves a revision with another lifecycle. */
  setLifecycle(policy: Stored<GuardrailPolicy>, lifecycle: Lifecycle): Promise<void>;
  /** Creates the resource of a manifest or replaces its spec; `base` is the object that the manifest was written from. */
  applyManifest(manifest: Pick<Manifest, 'kind' | 'resource'>, base?: Stored<Resource>): Promise<ApplyResult>;
};

/** Writes resources on the resource server; each write contains the note. */
export function createResourceWriter(client: KubeClient, note: ChangeNote): ResourceWriter {
  const noted = (token: string) => ({ [changeNoteAnnotation]: writeChangeNote(token, note) });
  return {
    applyToBinding(binding, { guardrail, contentProfile = binding.spec.contentProfile }) {
      refuseDeleting(binding);
      const apply = uuidv7();
      const spec = { ...binding.spec, guardrail, contentProfile, apply };
      // The command has already asked for confirmation before a guardrail is removed.
      const confirmed = guardrail.mode === 'None' ? confirmationOf(binding.metadata) : null;
      const confirmation = { [confirmUnguardedAnnotation]: confirmed };
      const desired = { spec, annotations: { ...noted(apply), ...confirmation } };
      return unlessChanged(binding, async () => {
        const current =
          guardrail.mode === 'None' ? await withoutConfirmation(client, kinds.modelBinding, binding) : binding;
        return applyDesired(client, kinds.modelBinding, current, desired, 'generation');
      });
    },
    async setLifecycle(policy, lifecycle) {
      refuseDeleting(policy);
      await awaitRecordedWrite(client, policy);
      const change = uuidv7();
      const desired = { spec: { ...policy.spec, lifecycle, change }, annotations: noted(change) };
      await unlessChanged(policy, () => applyDesired(client, kinds.guardrailPolicy, policy, desired, 'generation'));
    },
    async applyManifest(manifest, base) {
      const current = await unconfirmed(client, manifest, base);
      const written = { token: 'when_changed', note } as const;
      return applyManifest(client, manifest, base === undefined ? written : { ...written, base: current ?? base });
    },
  };
}

/** The object that a manifest leaves with fewer checks, without the confirmation that the manifest sets again. */
async function unconfirmed(
  client: KubeClient,
  { kind, resource }: Pick<Manifest, 'kind' | 'resource'>,
  base: Stored<Resource> | undefined,
): Promise<Stored<Resource> | undefined> {
  if (resource.metadata.annotations?.[confirmUnguardedAnnotation] === undefined) return base;
  const read = base ?? (await client.get<Resource>(kind, resource.metadata.name));
  return read === undefined ? base : withoutConfirmation(client, kind, read);
}

/** @throws CliError conflict */
export function refuseDeleting({ kind, metadata }: Stored<ModelBinding> | Stored<GuardrailPolicy>): void {
  if (metadata.deletionTimestamp === undefined) return;
  const effect =
    kind === kinds.modelBinding.kind
      ? 'nothing can be applied to it'
      : `to keep it, apply it again from its file with ${typedCommand('apply -f FILE')}, then repeat the command`;
  throw new CliError('conflict', `The ${kind} ${metadata.name} is being deleted: ${effect}.`);
}

export function changedConcurrently(
  { kind, metadata }: Stored<ModelBinding> | Stored<GuardrailPolicy>,
  cause?: unknown,
): CliError {
  return new CliError(
    'conflict',
    `The ${kind} ${metadata.name} was changed concurrently: read it again and repeat the command.`,
    { cause },
  );
}

async function unlessChanged<T>(
  object: Stored<ModelBinding> | Stored<GuardrailPolicy>,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (!isKubeError(cause, 'precondition_failed', 'conflict')) throw cause;
    throw changedConcurrently(object, cause);
  }
}
