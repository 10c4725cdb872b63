import { asciiEqual } from './ascii-equal.ts';
import { KeySet } from './key-set.ts';

/** The number of last bytes of a term that are examined; less when the shortest term is shorter. */
const MOST_BYTES = 4;
/** The bit in each of four bytes that distinguishes upper from lower case. */
const LOWER_CASE = 0x20202020;

/**
 * Finds places where terms may end in an ASCII text, by the last four bytes of the terms, ignoring case. It may return
 * places where no term ends, but never misses one.
 */
export class TermEnds {
  readonly #keys: KeySet;
  /** The mask that selects the bytes of a key from four bytes, the last byte being the highest. */
  readonly #bits: number;

  constructor(terms: readonly string[]) {
    const forms = terms.map((term) => asciiEqual(Buffer.from(term))).filter((form) => form !== undefined);
    const bytes = forms.reduce((least, form) => Math.min(least, form.length), MOST_BYTES);
    this.#keys = new KeySet(forms.length);
    this.#bits = -1 << (32 - 8 * bytes);
    const last = new Uint8Array(MOST_BYTES);
    const text = new DataView(last.buffer);
    for (const form of forms) {
      last.set(form.subarray(form.length - bytes), MOST_BYTES - bytes);
      this.#keys.add((text.getInt32(0, true) | LOWER_CASE) & this.#bits);
    }
  }

  /**
   * Writes the positions at which a term may end into `places`, in ascending order, and returns their number: at most
   * one for each byte.
   */
  placesIn(bytes: Buffer, places: Int32Array): number {
    const text = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const keys = this.#keys;
    const bits = this.#bits;
    let found = 0;
    for (let end = 1; end < MOST_BYTES && end <= bytes.length; end += 1) places[found++] = end;
    for (let end = MOST_BYTES; end <= bytes.length; end += 1) {
      if (keys.has((text.getInt32(end - MOST_BYTES, true) | LOWER_CASE) & bits)) places[found++] = end;
    }
    return found;
  }
}
