import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';

/** An object as the store holds it: its JSON once, and the metadata by which it is found. Never changed. */
export type StoredObject = {
  readonly kind: Kind;
  readonly name: string;
  readonly version: number;
  readonly metadata: Stored<Resource>['metadata'];
  /** The whole object as JSON, as it stands in its file and goes over the wire. */
  readonly bytes: Buffer;
};

/** The object itself; a new copy each time. */
export function decodeObject(stored: StoredObject): Stored<Resource> {
  return JSON.parse(stored.bytes.toString('utf8'));
}

/** The stored form of an object whose metadata is complete. */
export function encodeObject(kind: Kind, object: Stored<Resource>): StoredObject {
  return {
    kind,
    name: object.metadata.name,
    version: Number(object.metadata.resourceVersion),
    metadata: object.metadata,
    bytes: Buffer.from(JSON.stringify(object)),
  };
}
