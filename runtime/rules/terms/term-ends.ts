import { asciiEqual } from './ascii-equal.ts';
import { KeySet } from './key-set.ts';

/** So many last bytes of a term are looked at, or as many as the shortest one has. */
const MOST_BYTES = 4;
/** The bit that the cases of a letter differ by, in four bytes. */
const LOWER_CASE = 0x20202020;

/**
 * Where terms may end in a text of ASCII, wherever they begin: by the last four bytes, without case. It may name a place
 * too many and never one too few.
 */
export class TermEnds {
  readonly #keys: KeySet;
  /** The bits of four bytes, the last one highest, that make a key. */
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

  /** Puts places, ascending, that may be the end of a term into `places` and returns how many: one for each byte at most. */
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
