import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';

/** An immutable stored object: its JSON, and the metadata of its indexes. */
export type StoredObject = {
  readonly kind: Kind;
  readonly name: string;
  readonly version: number;
  readonly metadata: Stored<Resource>['metadata'];
  /** The whole object as JSON: the bytes of its file, which are also the answer to a read. */
  readonly bytes: Buffer;
};

/** A new copy of the stored object, which the caller may change. */
export function decodeStoredObject(stored: StoredObject): Stored<Resource> {
  return JSON.parse(stored.bytes.toString('utf8'));
}

/** The stored form of an object whose metadata is complete. */
export function encodeStoredObject(kind: Kind, object: Stored<Resource>): StoredObject {
  return {
    kind,
    name: object.metadata.name,
    version: Number(object.metadata.resourceVersion),
    metadata: object.metadata,
    bytes: Buffer.from(JSON.stringify(object)),
  };
}
