import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import { controllerOf, type KubeObject } from '../client/kube-object.ts';
import { preconditionTests } from './apply.ts';
import { differenceOperations } from './object-difference.ts';

/** An object with this name exists and is not the desired object; it was not changed. */
export class NameConflictError extends Error {
  override readonly name = 'NameConflictError';
  /** `foreign_owner`: the object belongs to another controller. `other_content`: its digest or content differs. */
  readonly code: 'foreign_owner' | 'other_content';

  constructor(code: NameConflictError['code'], kind: Kind, objectName: string) {
    super(`the ${kind.kind} ${objectName} ${sentences[code]}: remove or rename it`);
    this.code = code;
  }
}

const sentences = {
  foreign_owner: 'exists and has another owner',
  other_content: 'exists and has other content',
} as const satisfies Record<NameConflictError['code'], string>;

type EnsureOptions<R extends KubeObject> = {
  /** The object as it was last read, if known: saves a read. */
  readonly current?: Stored<R> | undefined;
  /**
   * Annotation with a digest of the content. The content of such an object is never changed: a different digest or
   * content is a NameConflictError.
   */
  readonly digestAnnotation?: string;
};

export type Ensured<R extends KubeObject> = {
  readonly action: 'created' | 'configured' | 'unchanged';
  readonly object: Stored<R>;
  /** Paths that were written to an object that existed. */
  readonly changed: readonly string[];
  /** Paths whose value differs from the written value, because a webhook or the server changed it. */
  readonly notKept: readonly string[];
};

/**
 * Creates an object, or adopts the existing object with this name and writes the difference to the desired object
 * (object-difference.ts). Nothing is written when there is no difference. An object is adopted only if it has the
 * desired controller or, with `digestAnnotation`, the desired digest and content.
 * @throws NameConflictError when the name belongs to another object, KubeError `conflict` while it is being deleted,
 * `precondition_failed` when it was written since it was read
 */
export async function ensureObject<R extends KubeObject>(
  client: Pick<KubeClient, 'get' | 'create' | 'patch'>,
  kind: Kind,
  desired: R,
  options: EnsureOptions<R> = {},
): Promise<Ensured<R>> {
  const { digestAnnotation } = options;
  if (digestAnnotation === undefined && controllerOf(desired) === undefined) {
    throw new TypeError(`the desired ${kind.kind} needs a controller or a digest annotation`);
  }
  const found = options.current ?? (await createOrRead(client, kind, desired));
  if ('created' in found)
    return { action: 'created', object: found.created, changed: [], notKept: pathsOf(found.created, desired) };
  assertAdoptable(kind, found, desired, digestAnnotation);
  const changes = differenceOperations(found, desired);
  if (changes.length === 0) return { action: 'unchanged', object: found, changed: [], notKept: [] };
  if (digestAnnotation !== undefined && changes.some(({ path }) => !path.startsWith('/metadata/'))) {
    throw new NameConflictError('other_content', kind, desired.metadata.name);
  }
  const operations = [...preconditionTests(found, 'resourceVersion'), ...changes];
  const object = await client.patch<R>(kind, desired.metadata.name, operations);
  const isSame = object.metadata.resourceVersion === found.metadata.resourceVersion;
  const changed = isSame ? [] : changes.map(({ path }) => path);
  return { action: isSame ? 'unchanged' : 'configured', object, changed, notKept: pathsOf(object, desired) };
}

type Created<R extends KubeObject> = { readonly created: Stored<R> };

/** Reads first, because the object exists in most passes. */
async function createOrRead<R extends KubeObject>(
  client: Pick<KubeClient, 'get' | 'create'>,
  kind: Kind,
  desired: R,
): Promise<Stored<R> | Created<R>> {
  const { name } = desired.metadata;
  const before = await client.get<R>(kind, name);
  if (before !== undefined) return before;
  try {
    return { created: await client.create<R>(kind, desired) };
  } catch (error) {
    if (!isKubeError(error, 'already_exists')) throw error;
    const object = await client.get<R>(kind, name);
    if (object === undefined) throw new KubeError('conflict', `the ${kind.kind} ${name} was removed during the call`);
    return object;
  }
}

function assertAdoptable<R extends KubeObject>(
  kind: Kind,
  found: Stored<R>,
  desired: R,
  digestAnnotation: string | undefined,
): void {
  const { name } = desired.metadata;
  const owner = controllerOf(desired);
  if (owner !== undefined && controllerOf(found) !== owner) throw new NameConflictError('foreign_owner', kind, name);
  if (digestAnnotation !== undefined) {
    const digest = desired.metadata.annotations?.[digestAnnotation];
    if (digest === undefined) throw new TypeError(`the desired ${kind.kind} has no annotation ${digestAnnotation}`);
    if (found.metadata.annotations?.[digestAnnotation] !== digest) {
      throw new NameConflictError('other_content', kind, name);
    }
  }
  if (found.metadata.deletionTimestamp !== undefined) {
    throw new KubeError('conflict', `the ${kind.kind} ${name} is being deleted: wait until it is removed`);
  }
}

function pathsOf(object: KubeObject, desired: KubeObject): readonly string[] {
  return differenceOperations(object, desired).map(({ path }) => path);
}
