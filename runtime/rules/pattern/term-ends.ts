import { KeySet } from './key-set.ts';
import { foldOrbit } from './unicode/case-fold.ts';

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
    const forms = terms.map(asciiOf).filter((form) => form !== undefined);
    this.#keys = new KeySet(forms.length);
    const bytes = forms.reduce((least, form) => Math.min(least, form.length), MOST_BYTES);
    this.#bits = -1 << (32 - 8 * bytes);
    for (const form of forms) {
      const text = new DataView(Uint8Array.of(0, 0, 0, 0, ...form.slice(-MOST_BYTES)).buffer);
      this.#keys.add((text.getInt32(text.byteLength - 4, true) | LOWER_CASE) & this.#bits);
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

/** The characters of ASCII that equal those of a term without case; undefined when one has none. */
function asciiOf(term: string): readonly number[] | undefined {
  const form = Array.from(term, (character) => foldOrbit(character.codePointAt(0) ?? 0).find((rune) => rune < 0x80));
  return form.every((rune) => rune !== undefined) ? form : undefined;
}
