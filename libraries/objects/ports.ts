export type ObjectEntry = { readonly key: string; readonly bytes: number; readonly modifiedAt: Date };

/**
 * A store of bytes under keys: segments of letters, digits, `.`, `_` and `-`, separated by slashes. Every method throws
 * ObjectsUnavailableError if the store is away, full or refuses access.
 */
export type ObjectStore = AsyncDisposable & {
  /** Stores the bytes as a whole or not at all, and replaces those of an earlier object. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** The bytes; undefined if the key is absent. @throws ObjectTooLargeError above `maxBytes`, before it is read */
  get(key: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** An absent key changes nothing. */
  delete(key: string): Promise<void>;
  /** Objects below a prefix in the order of their keys. */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /** The address of a key, as payload_uri shows it: `file:` or `s3:`. */
  uriOf(key: string): string;
};
