import { v7 as uuidv7 } from 'uuid';
import { appliedHashAnnotation, type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import { patchOperations } from './apply.ts';
import type { Manifest } from './read-manifests.ts';
import { sameJson } from './same-json.ts';

const maxAttempts = 5;

/** The member of a spec that marks one act of applying; a writer may leave it out. */
const tokenMembers: ReadonlyMap<string, string> = new Map([
  [kinds.guardrailPolicy.kind, 'change'],
  [kinds.modelBinding.kind, 'apply'],
]);

export type ApplyOptions = {
  /** Hash of the source. It is kept with the object, and an object that has it is left alone. */
  readonly sourceHash?: string;
  /**
   * What stands in the place of a token that the manifest leaves out: `fresh` a new one, `when_changed` a new one only
   * when something else of the spec changes. `fresh` when absent.
   */
  readonly token?: 'fresh' | 'when_changed';
};

export type Applied = {
  readonly action: 'created' | 'configured' | 'unchanged';
  readonly object: Stored<Resource>;
};

type Wanted = Pick<Manifest, 'kind' | 'resource'>;

/**
 * Creates a resource or makes the one of its name like it: the spec whole, labels and annotations merged. Of the
 * metadata only these and the name are taken. A concurrent write leads to a new look, a few times.
 * @throws KubeError `invalid` where the manifest names another namespace, `conflict` where the object is being deleted or other writers do not give way
 */
export async function applyManifest(client: KubeClient, wanted: Wanted, options: ApplyOptions = {}): Promise<Applied> {
  assertNamespace(wanted.resource, client.namespace);
  const freshToken = uuidv7();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await applyOnce(client, wanted, options, freshToken);
    } catch (error) {
      const raced = isKubeError(error, 'already_exists', 'conflict', 'precondition_failed', 'not_found');
      if (!raced || attempt === maxAttempts || isDeleting(error)) throw error;
    }
  }
}

function assertNamespace({ metadata }: Resource, namespace: string): void {
  if ((metadata.namespace ?? namespace) === namespace) return;
  const cause = { field: 'metadata.namespace', message: `only the namespace ${namespace} is served here` };
  throw new KubeError('invalid', `${cause.field}: ${cause.message}`, { causes: [cause] });
}

async function applyOnce(
  client: KubeClient,
  { kind, resource }: Wanted,
  options: ApplyOptions,
  freshToken: string,
): Promise<Applied> {
  const { name, labels = {} } = resource.metadata;
  const hash = options.sourceHash === undefined ? {} : { [appliedHashAnnotation]: options.sourceHash };
  const annotations = { ...resource.metadata.annotations, ...hash };
  const current = await client.get<Resource>(kind, name);
  if (current === undefined) {
    const spec = withToken(kind, resource.spec, undefined, freshToken, options);
    const { apiVersion } = resource;
    const object = await client.create(kind, {
      apiVersion,
      kind: kind.kind,
      metadata: { name, labels, annotations },
      spec,
    });
    return { action: 'created', object };
  }
  if (
    options.sourceHash !== undefined &&
    current.metadata.annotations?.[appliedHashAnnotation] === options.sourceHash
  ) {
    return { action: 'unchanged', object: current };
  }
  if (current.metadata.deletionTimestamp !== undefined) throw new DeletingError(kind, name);
  const spec = withToken(kind, resource.spec, current.spec, freshToken, options);
  const operations = patchOperations(current, { spec, labels, annotations }, 'generation');
  if (operations.length === 0) return { action: 'unchanged', object: current };
  return { action: 'configured', object: await client.patch<Resource>(kind, name, operations) };
}

/** The spec as it is to be written; a token that the manifest gives is kept. */
function withToken(kind: Kind, spec: unknown, current: unknown, fresh: string, options: ApplyOptions): unknown {
  const member = tokenMembers.get(kind.kind);
  const wanted = spec as Readonly<Record<string, unknown>>;
  if (member === undefined || wanted[member] !== undefined) return spec;
  const { [member]: token, ...rest } = (current ?? {}) as Readonly<Record<string, unknown>>;
  if (options.token === 'when_changed' && current !== undefined && sameJson(rest, wanted)) {
    return token === undefined ? wanted : { ...wanted, [member]: token };
  }
  return { ...wanted, [member]: fresh };
}

/** The object goes away first; whoever still wants it applies again afterwards. */
class DeletingError extends KubeError {
  constructor(kind: Kind, name: string) {
    super('conflict', `the ${kind.kind} ${name} is being deleted: apply again when it is gone`);
  }
}

function isDeleting(error: unknown): boolean {
  return error instanceof DeletingError;
}
