const pieceBytes = 65_536;

/**
 * The pieces of a body, for one iteration. After the last piece the iterator keeps no bytes, although the HTTP client
 * keeps the body object until its answer is complete.
 */
export class BodyPieces implements IterableIterator<Uint8Array, undefined> {
  #bytes: Uint8Array | undefined;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): IteratorResult<Uint8Array, undefined> {
    const bytes = this.#bytes;
    const start = this.#at;
    this.#at += pieceBytes;
    if (bytes !== undefined && start < bytes.length) return { done: false, value: bytes.subarray(start, this.#at) };
    this.#bytes = undefined;
    return { done: true, value: undefined };
  }

  [Symbol.iterator](): this {
    return this;
  }
}
