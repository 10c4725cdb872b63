import { v7 as uuidv7 } from 'uuid';
import {
  type ChangeNote,
  changeNoteAnnotation,
  noteToken,
  tokenMembers,
  writeChangeNote,
} from '#resources/change-note';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { appliedHashAnnotation, type Kind, keepAnnotation, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import { patchOperations } from './apply.ts';
import { awaitRecordedWrite } from './await-recorded-write.ts';
import type { Manifest } from './read-manifests.ts';
import { sameJson } from './same-json.ts';

const maxAttempts = 5;

export type ApplyOptions = {
  /**
   * Hash of the source, stored in an annotation; an object with the same hash is not written, except that a policy
   * under deletion is restored unchanged.
   */
  readonly sourceHash?: string;
  /**
   * The value of a token that the manifest omits: `fresh` sets a new value, `when_changed` sets a new value only when
   * another part of the spec changes. `fresh` when absent.
   */
  readonly token?: 'fresh' | 'when_changed';
  /**
   * The complete object from which the manifest was written: a newer generation is refused with `precondition_failed`,
   * labels and annotations that the manifest no longer has are removed, and its token counts as omitted.
   */
  readonly base?: Stored<Resource>;
  /**
   * The author and the reason of the change. They are stored with the token or the generation of a write that changes
   * the spec.
   */
  readonly note?: ChangeNote;
};

export type ApplyResult = {
  /** `restored`: the policy was under deletion, and the operator creates it again with this content. */
  readonly action: 'created' | 'configured' | 'unchanged' | 'restored';
  readonly object: Stored<Resource>;
};

type ManifestResource = Pick<Manifest, 'kind' | 'resource'>;

/**
 * Creates a resource, or updates the existing one of this name: replaces the spec, merges labels and annotations
 * (without `base`). Other metadata of the manifest is ignored. A policy that is being deleted is kept. Retried a few
 * times after a concurrent write.
 * @throws KubeError `invalid` when the manifest names another namespace, `conflict` when a binding is being deleted, the
 *   code of the last attempt when other writers keep changing it
 */
export async function applyManifest(
  client: KubeClient,
  manifest: ManifestResource,
  options: ApplyOptions = {},
): Promise<ApplyResult> {
  assertNamespace(manifest.resource, client.namespace);
  const freshToken = uuidv7();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyOnce(client, manifest, options, freshToken);
    } catch (error) {
      const raced = isKubeError(error, 'already_exists', 'conflict', 'precondition_failed', 'not_found');
      if (!raced || options.base !== undefined || attempt === maxAttempts || error instanceof DeletingError)
        throw error;
    }
  }
}

function assertNamespace({ metadata }: Resource, namespace: string): void {
  if ((metadata.namespace ?? namespace) === namespace) return;
  const cause = { field: 'metadata.namespace', message: `must be ${namespace} or absent` };
  throw new KubeError('invalid', `${cause.field}: ${cause.message}`, { causes: [cause] });
}

async function applyOnce(
  client: KubeClient,
  { kind, resource }: ManifestResource,
  options: ApplyOptions,
  freshToken: string,
): Promise<ApplyResult> {
  const { name, labels = {} } = resource.metadata;
  const hash = options.sourceHash === undefined ? {} : { [appliedHashAnnotation]: options.sourceHash };
  const annotations = { ...resource.metadata.annotations, ...hash };
  const current = options.base ?? (await client.get<Resource>(kind, name));
  if (current === undefined) {
    const spec = withToken(kind, resource.spec, undefined, freshToken, options);
    const { apiVersion } = resource;
    const object = await client.create(kind, {
      apiVersion,
      kind: kind.kind,
      metadata: {
        name,
        labels,
        annotations: { ...annotations, ...noteOf({ kind: kind.kind, spec, generation: 1 }, options) },
      },
      spec,
    });
    return { action: 'created', object };
  }
  const { deletionTimestamp } = current.metadata;
  const isKept = deletionTimestamp !== undefined && isPolicy(current);
  const keep = isKept ? { [keepAnnotation]: deletionTimestamp } : {};
  const isSameSource =
    options.sourceHash !== undefined && current.metadata.annotations?.[appliedHashAnnotation] === options.sourceHash;
  if (isSameSource) {
    if (!isKept) return { action: 'unchanged', object: current };
    // Edits that were made since the source was applied stay, as they do without a deletion.
    const operations = patchOperations(current, { spec: current.spec, annotations: keep }, 'generation');
    return { action: 'restored', object: await patched(client, kind, current, operations) };
  }
  if (deletionTimestamp !== undefined && !isKept) throw new DeletingError(kind, name);
  const spec = withToken(kind, resource.spec, current.spec, freshToken, options);
  const generation = current.metadata.generation + 1;
  const note = sameJson(spec, current.spec) ? {} : noteOf({ kind: kind.kind, spec, generation }, options);
  const { base } = options;
  const desired = {
    spec,
    labels: { ...removed(base?.metadata.labels), ...labels },
    annotations: { ...removed(base?.metadata.annotations), ...annotations, ...note, ...keep },
  };
  const operations = patchOperations(current, desired, 'generation');
  if (isPolicy(current) && !sameJson(spec, current.spec)) await awaitRecordedWrite(client, current);
  const object = await patched(client, kind, current, operations);
  if (isKept) return { action: 'restored', object };
  return { action: operations.length === 0 ? 'unchanged' : 'configured', object };
}

function isPolicy(object: Stored<Resource>): object is Stored<GuardrailPolicy> {
  return object.kind === kinds.guardrailPolicy.kind;
}

/** The object after the operations; without an operation no request is sent. */
async function patched(
  client: KubeClient,
  kind: Kind,
  current: Stored<Resource>,
  operations: ReturnType<typeof patchOperations>,
): Promise<Stored<Resource>> {
  return operations.length === 0 ? current : client.patch<Resource>(kind, current.metadata.name, operations);
}

/** @param written the object after the write, which fails if the generation was changed before it */
function removed(map: Readonly<Record<string, string>> = {}): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(map).map((key) => [key, null]));
}

/** @param written the object after the write, which fails if the generation before it was a different generation */
function noteOf(
  { generation, ...written }: { readonly kind: string; readonly spec: unknown; readonly generation: number },
  { note }: ApplyOptions,
): Readonly<Record<string, string>> {
  if (note === undefined) return {};
  return { [changeNoteAnnotation]: writeChangeNote(noteToken({ ...written, metadata: { generation } }), note) };
}

/**
 * The spec with its token; a token in the manifest is kept, unless the manifest was written from `base`, which has the
 * same token.
 */
function withToken(kind: Kind, spec: unknown, current: unknown, fresh: string, options: ApplyOptions): unknown {
  const member = tokenMembers.get(kind.kind);
  if (member === undefined) return spec;
  const { [member]: sent, ...others } = spec as Readonly<Record<string, unknown>>;
  const before = options.base?.spec as Readonly<Record<string, unknown>> | undefined;
  if (sent !== undefined && sent !== before?.[member]) return spec;
  const wanted: Readonly<Record<string, unknown>> = others;
  const { [member]: token, ...rest } = (current ?? {}) as Readonly<Record<string, unknown>>;
  if (options.token === 'when_changed' && current !== undefined && sameJson(rest, wanted)) {
    return token === undefined ? wanted : { ...wanted, [member]: token };
  }
  return { ...wanted, [member]: fresh };
}

/** The desired object of a manifest, without status; a token that it omits is unchanged. */
export function desiredObject({ kind, resource }: ManifestResource, current: Stored<Resource> | undefined): Resource {
  const { apiVersion, metadata } = resource;
  const member = tokenMembers.get(kind.kind);
  const token =
    member === undefined ? undefined : (current?.spec as Readonly<Record<string, unknown>> | undefined)?.[member];
  const kept = member === undefined || token === undefined ? {} : { [member]: token };
  return {
    apiVersion,
    kind: kind.kind,
    metadata: {
      name: metadata.name,
      labels: { ...current?.metadata.labels, ...metadata.labels },
      annotations: { ...current?.metadata.annotations, ...metadata.annotations },
    },
    spec: { ...kept, ...(resource.spec as object) },
  };
}

/** The conflict is not retried: the deletion must finish before the object can be created again. */
class DeletingError extends KubeError {
  constructor(kind: Kind, name: string) {
    super('conflict', `the ${kind.kind} ${name} is being deleted: apply again after it is removed`);
  }
}
