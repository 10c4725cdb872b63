/** A JSON value of RFC 8259. `__proto__` is an ordinary own key of an object and never changes its prototype. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

/**
 * Why a text is refused.
 * - `utf8`: the bytes are not UTF-8 (RFC 3629)
 * - `syntax`: outside the grammar of RFC 8259, a byte order mark and an empty text included
 * - `duplicate_key`: a key appears twice in one object, compared after unescaping
 * - `surrogate`: an escape names half of a surrogate pair without its other half
 * - `number`: a number that no finite double can hold
 * - `depth`: more containers inside each other than allowed
 * - `values`: more values than allowed, where `parseTree` was given a bound
 */
export type JsonFault = 'utf8' | 'syntax' | 'duplicate_key' | 'surrogate' | 'number' | 'depth' | 'values';

/** A JSON text was refused. The message holds the fault and the byte offset, never any of the text. */
export class JsonError extends Error {
  readonly code = 'invalid_json';
  readonly fault: JsonFault;
  /** Offset of the byte at which the text could not go on; the length of the text where it ended too early. */
  readonly offset: number;

  constructor(fault: JsonFault, offset: number) {
    super(`invalid JSON: ${fault} at byte ${offset}`);
    this.name = 'JsonError';
    this.fault = fault;
    this.offset = offset;
  }
}

export type JsonOptions = {
  /** How many containers may lie inside each other; at most 512. */
  readonly maxDepth?: number;
  /** How many values a tree may hold, the outermost included: a value takes many times its bytes. No bound when absent. */
  readonly maxValues?: number;
  /** `keep` leaves an escaped half of a surrogate pair as it is, for texts that were cut into several; else refused. */
  readonly unpairedSurrogates?: 'refuse' | 'keep';
};

/** The nesting that is accepted where the caller says nothing. */
export const DEFAULT_MAX_DEPTH = 64;
