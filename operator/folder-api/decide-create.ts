import { group, type Kind } from '#resources/kinds';
import type { Metadata, Resource, Stored } from '#resources/metadata';
import { ApiRefusal, conflict } from './api-refusal.ts';
import type { StoredObject } from './stored-object.ts';
import { validateObject } from './validate-object.ts';

/** The effect of a write on the stored object; the store assigns the version. */
export type WriteDecision =
  | { readonly act: 'keep' }
  | { readonly act: 'put'; readonly object: Stored<Resource> }
  /** The object is removed; `object` is its last state. */
  | { readonly act: 'remove'; readonly object: Stored<Resource> };

type CreateInput = {
  readonly kind: Kind;
  readonly namespace: string;
  readonly body: unknown;
  readonly uid: string;
  readonly now: Date;
};

/** The object that a POST creates: the server sets its own fields and ignores a status in the body. */
export function decideCreate(input: CreateInput, current: StoredObject | undefined): WriteDecision {
  const { kind, namespace } = input;
  const body = bodyObject(input.body);
  const { status: _status, ...sent } = body;
  validateObject(kind, sent);
  const { metadata } = sent;
  if ((metadata.namespace ?? namespace) !== namespace) throw otherNamespace();
  if (metadata.resourceVersion !== undefined) {
    throw new ApiRefusal('BadRequest', 'resourceVersion should not be set on objects to be created');
  }
  if (current !== undefined) {
    throw new ApiRefusal('AlreadyExists', `${kind.plural}.${group} "${metadata.name}" already exists`, {
      kind,
      name: metadata.name,
    });
  }
  const object: Stored<Resource> = {
    apiVersion: sent.apiVersion,
    kind: sent.kind,
    metadata: {
      name: metadata.name,
      namespace,
      uid: input.uid,
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: wholeSeconds(input.now),
      ...clientMetadata(metadata),
    },
    spec: sent.spec,
  };
  return { act: 'put', object };
}

/** The members of metadata that clients set; empty maps and lists are omitted. */
export function clientMetadata(
  metadata: Metadata,
): Pick<Metadata, 'labels' | 'annotations' | 'finalizers' | 'ownerReferences'> {
  const { labels, annotations, finalizers, ownerReferences } = metadata;
  return {
    ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
    ...(annotations === undefined || Object.keys(annotations).length === 0 ? {} : { annotations }),
    ...(finalizers === undefined || finalizers.length === 0 ? {} : { finalizers: [...new Set(finalizers)] }),
    ...(ownerReferences === undefined || ownerReferences.length === 0 ? {} : { ownerReferences }),
  };
}

/** RFC 3339 in whole seconds, the precision of meta/v1 Time. */
export function wholeSeconds(date: Date): string {
  return date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** @throws ApiRefusal `BadRequest` unless the body is an object */
export function bodyObject(body: unknown): { readonly [member: string]: unknown } {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ApiRefusal('BadRequest', 'the body is not an object');
  }
  return body as { readonly [member: string]: unknown };
}

/** The name of the object to create; other invalid fields are refused later with their path. */
export function nameInBody(body: unknown): string {
  const name = (bodyObject(body)['metadata'] as { readonly name?: unknown } | null | undefined)?.name;
  return typeof name === 'string' ? name : '';
}

function otherNamespace(): ApiRefusal {
  return new ApiRefusal(
    'BadRequest',
    'the namespace of the provided object does not match the namespace sent on the request',
  );
}

/** The error for a failed precondition: another UID or version. */
export function modified(kind: Kind, name: string): ApiRefusal {
  return conflict(
    kind,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}
