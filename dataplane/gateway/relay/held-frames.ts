/** The bytes of the budget that one request has taken. */
export type RequestBytes = {
  take(bytes: number): boolean | Promise<boolean>;
  release(bytes: number): void;
};

/** Bytes that each stream may hold outside of the budget. */
export const freeHeldBytes = 1_048_576;
/** How many bytes are requested from the budget at a time; a frame is much smaller. */
const stepBytes = 262_144;

/** Accounts for the frames that a stream holds beyond `freeHeldBytes` (docs/design/held-bytes.md). */
export class HeldFrames {
  readonly #bytes: RequestBytes;
  #taken = 0;

  constructor(bytes: RequestBytes) {
    this.#bytes = bytes;
  }

  /** @returns false, or a promise of it, when the bytes are not free in time: the stream cannot hold its frames */
  cover(held: number): boolean | Promise<boolean> {
    const needed = Math.ceil(Math.max(0, held - freeHeldBytes) / stepBytes) * stepBytes;
    if (needed <= this.#taken) {
      if (needed < this.#taken) this.#bytes.release(this.#taken - needed);
      this.#taken = needed;
      return true;
    }
    const taken = this.#bytes.take(needed - this.#taken);
    if (typeof taken === 'boolean') return this.#took(needed, taken);
    return taken.then((isTaken) => this.#took(needed, isTaken));
  }

  #took(needed: number, isTaken: boolean): boolean {
    if (isTaken) this.#taken = needed;
    return isTaken;
  }
}
