export type ObjectEntry = { readonly key: string; readonly bytes: number; readonly modifiedAt: Date };

/**
 * A store of bytes under keys (check-key.ts defines their form; any other key throws a TypeError). A key must not be
 * the folder of another key. Every method throws ObjectsUnavailableError if the store is unreachable, full or refuses
 * access.
 */
export type ObjectStore = AsyncDisposable & {
  /** Stores the bytes as a whole and durably, or not at all, and replaces the bytes of an earlier object. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Returns the bytes; undefined if the key is absent. @throws ObjectTooLargeError for an object above `maxBytes`,
   * before it is read
   */
  get(key: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** Deletes an object; an absent key changes nothing. */
  delete(key: string): Promise<void>;
  /**
   * Objects below a folder in the order of their keys; those that are stored or deleted meanwhile may be missing.
   * @param prefix segments that each end with a slash, or '' for all objects
   */
  list(prefix: string): AsyncIterable<ObjectEntry>;
  /** The address of a key, as payload_uri shows it: `file:` without the place of the store on its machine, or `s3:`. */
  uriOf(key: string): string;
};
