/** A set of numbers of 32 bits that may say of one too many that it is in it. */
export class KeySet {
  readonly #bits: Int32Array;
  readonly #shift: number;

  /** For so many numbers: any other one is taken for one of them once in 64 times at most. */
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
