/** A JSON value of RFC 8259. `__proto__` is an ordinary own key of an object and never changes its prototype. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * The reason why a JSON text is refused.
 * - `utf8`: the bytes are not UTF-8 (RFC 3629)
 * - `syntax`: outside the grammar of RFC 8259, which includes a byte order mark and an empty text
 * - `duplicate_key`: a key appears twice in one object, compared after unescaping
 * - `surrogate`: an escape of an unpaired surrogate
 * - `number`: a number beyond the range of a double
 * - `depth`: containers are nested deeper than allowed
 * - `values`: more values than `maxValues`
 */
export type JsonFault = 'utf8' | 'syntax' | 'duplicate_key' | 'surrogate' | 'number' | 'depth' | 'values';

/** A JSON text was refused. The message has the fault and the byte offset, and no part of the text. */
export class JsonError extends Error {
  readonly code = 'invalid_json';
  readonly fault: JsonFault;
  /** Offset of the first byte that is not accepted; the length of the text if the text ended too early. */
  readonly offset: number;

  constructor(fault: JsonFault, offset: number) {
    super(`invalid JSON: ${fault} at byte ${offset}`);
    this.name = 'JsonError';
    this.fault = fault;
    this.offset = offset;
  }
}

export type JsonOptions = {
  /** Deepest nesting of containers; at most 512. */
  readonly maxDepth?: number;
  /**
   * Maximum number of values in a tree, including the root, because a value takes many times its bytes of memory.
   * Unbounded when absent.
   */
  readonly maxValues?: number;
  /** `keep` accepts an escaped unpaired surrogate, for texts that were split between the halves. `refuse` when absent. */
  readonly unpairedSurrogates?: 'refuse' | 'keep';
};

/** Default of `maxDepth`. */
export const DEFAULT_MAX_DEPTH = 64;
