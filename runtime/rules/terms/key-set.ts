/** A probabilistic set of 32-bit numbers: it may wrongly report a number as a member, but never misses a member. */
export class KeySet {
  readonly #bits: Int32Array;
  readonly #shift: number;

  /** Creates a set for this many numbers. It wrongly reports another number as a member in at most one of 64 cases. */
  constructor(size: number) {
    let digits = 10;
    while (1 << digits < 64 * size) digits += 1;
    this.#bits = new Int32Array(1 << (digits - 5));
    this.#shift = 32 - digits;
  }

  has(key: number): boolean {
    const bit = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    return (((this.#bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) !== 0;
  }

  add(key: number): void {
    const bit = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
}
