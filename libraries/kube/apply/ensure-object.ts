import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { preconditionTests } from './apply.ts';
import { differenceOperations } from './object-difference.ts';

/** An object of the name is there and is not the one that is wanted; it was left as it is. */
export class NameConflictError extends Error {
  override readonly name = 'NameConflictError';
  /** It has another controller, or it claims the same origin and holds something else. */
  readonly code: 'foreign_owner' | 'other_content';

  constructor(code: NameConflictError['code'], kind: Kind, objectName: string) {
    super(`the ${kind.kind} ${objectName} ${sentences[code]}: remove it, or give it another name`);
    this.code = code;
  }
}

const sentences = {
  foreign_owner: 'exists and belongs to somebody else',
  other_content: 'exists and holds something else',
} as const satisfies Record<NameConflictError['code'], string>;

export type EnsureOptions<R extends KubeObject> = {
  /** The object as it was last seen, where that is known: saves the read. */
  readonly current?: Stored<R> | undefined;
  /**
   * Annotation that holds a digest of the content. The object is then never changed: where its digest or anything but
   * its metadata differs, the name is in conflict.
   */
  readonly digestAnnotation?: string;
};

export type Ensured<R extends KubeObject> = {
  readonly action: 'created' | 'configured' | 'unchanged';
  readonly object: Stored<R>;
  /** Paths that hold another value although they were written: a webhook or the server changes them back. */
  readonly notKept: readonly string[];
};

/**
 * Creates an object, or adopts the one of its name and changes it until it equals the desired one
 * (object-difference.ts); nothing is written where it does. An object is adopted only if the controller among its owners is the desired one,
 * or, with `digestAnnotation`, if its digest and content are.
 * @throws NameConflictError where the name belongs to another object, KubeError `conflict` while it is being deleted,
 *   `precondition_failed` where somebody wrote it meanwhile
 */
export async function ensureObject<R extends KubeObject>(
  client: Pick<KubeClient, 'get' | 'create' | 'patch'>,
  kind: Kind,
  desired: R,
  options: EnsureOptions<R> = {},
): Promise<Ensured<R>> {
  const { digestAnnotation } = options;
  if (digestAnnotation === undefined && controllerOf(desired) === undefined) {
    throw new TypeError(`a ${kind.kind} without a controller or a digest cannot be told from somebody else's`);
  }
  const found = options.current ?? (await createOrRead(client, kind, desired));
  if ('created' in found)
    return { action: 'created', object: found.created, notKept: notKeptOf(found.created, desired) };
  assertOurs(kind, found, desired, digestAnnotation);
  const changes = differenceOperations(found, desired);
  if (changes.length === 0) return { action: 'unchanged', object: found, notKept: [] };
  if (digestAnnotation !== undefined && changes.some(({ path }) => !path.startsWith('/metadata/'))) {
    throw new NameConflictError('other_content', kind, desired.metadata.name);
  }
  const operations = [...preconditionTests(found, 'resourceVersion'), ...changes];
  const object = await client.patch<R>(kind, desired.metadata.name, operations);
  const isSame = object.metadata.resourceVersion === found.metadata.resourceVersion;
  return { action: isSame ? 'unchanged' : 'configured', object, notKept: notKeptOf(object, desired) };
}

type Created<R extends KubeObject> = { readonly created: Stored<R> };

/** A read first: in most passes the object is there. */
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
    if (object === undefined) throw new KubeError('conflict', `the ${kind.kind} ${name} came and went: try again`);
    return object;
  }
}

function assertOurs<R extends KubeObject>(
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
    throw new KubeError('conflict', `the ${kind.kind} ${name} is being deleted: wait until it is gone`);
  }
}

/** UID of the owner that controls an object. */
function controllerOf({ metadata }: KubeObject): string | undefined {
  return metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
}

function notKeptOf(object: KubeObject, desired: KubeObject): readonly string[] {
  return differenceOperations(object, desired).map(({ path }) => path);
}
