/** The body of a request to a provider. It is dropped when no further attempt or estimate needs it. */
export class SentBody implements Disposable {
  #bytes: Uint8Array | undefined;
  readonly #release: () => void;

  /** @param release returns the bytes that the request holds to the budget */
  constructor(bytes: Uint8Array, release: () => void) {
    this.#bytes = bytes;
    this.#release = release;
  }

  get bytes(): Uint8Array {
    if (this.#bytes === undefined) throw new Error('the body of a request was read after its release');
    return this.#bytes;
  }

  [Symbol.dispose](): void {
    if (this.#bytes === undefined) return;
    this.#bytes = undefined;
    this.#release();
  }
}
