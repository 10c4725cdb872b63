/** A set of numbers that may say of one too many that it is in it. */
export class KeySet {
  readonly #bits: Int32Array;
  readonly #mask: number;

  /** For so many numbers: any other one is taken for one of them once in 64 times at most. */
  constructor(size: number) {
    let bits = 1_024;
    while (bits < 64 * size) bits *= 2;
    this.#bits = new Int32Array(bits >> 5);
    this.#mask = bits - 1;
  }

  has(key: number): boolean {
    const bit = (Math.imul(key, 0x9e3779b1) >>> 8) & this.#mask;
    return (((this.#bits[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) !== 0;
  }

  add(key: number): void {
    const bit = (Math.imul(key, 0x9e3779b1) >>> 8) & this.#mask;
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }
}
