import type { TermHash } from '../../packed/hash-term.ts';
import { RegionMemory } from './region-memory.ts';

const emptyPostings = new Uint32Array();
/** Number of terms for which a new partition has room; a partition may be as small as the memories of one person. */
const firstTerms = 64;

/** Occurrences of terms by the hash of the term, each as row * 256 + count, in the order of the rows. */
export class TermPostings {
  readonly #memory = new RegionMemory();
  /** Open addressing: the number of a term + 1, or 0. Twice as many slots as terms. */
  #slots = new Int32Array(2 * firstTerms);
  #high = new Uint32Array(firstTerms);
  #low = new Uint32Array(firstTerms);
  #addresses = new Uint32Array(firstTerms);
  #lengths = new Uint32Array(firstTerms);
  #terms = 0;

  /** Bytes of memory held. */
  get bytes(): number {
    return this.#memory.bytes + 4 * this.#slots.length + 16 * this.#high.length;
  }

  /** The occurrences of a term; valid until the next change. */
  find({ high, low }: TermHash): Uint32Array {
    const term = (this.#slots[this.#slotOf(high, low)] as number) - 1;
    if (term < 0) return emptyPostings;
    return this.#memory.read(this.#addresses[term] as number, this.#lengths[term] as number);
  }

  /** Adds occurrences of a term, which name entries of a block whose first entry is at `firstRow`. */
  append(high: number, low: number, occurrences: Uint32Array, firstRow: number): void {
    const term = this.#termOf(high, low);
    const length = this.#lengths[term] as number;
    const address = this.#memory.grow(this.#addresses[term] as number, length, length + occurrences.length);
    this.#addresses[term] = address;
    this.#lengths[term] = length + occurrences.length;
    this.#memory.append(address, length, occurrences, firstRow * 256);
  }

  #termOf(high: number, low: number): number {
    const slot = this.#slotOf(high, low);
    const known = (this.#slots[slot] as number) - 1;
    if (known >= 0) return known;
    if (this.#terms === this.#high.length) {
      this.#enlarge();
      return this.#termOf(high, low);
    }
    const term = this.#terms;
    this.#terms += 1;
    this.#slots[slot] = term + 1;
    this.#high[term] = high;
    this.#low[term] = low;
    return term;
  }

  /** The slot of a term, or the free slot where it can be added. */
  #slotOf(high: number, low: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const term = (this.#slots[slot] as number) - 1;
      if (term < 0 || (this.#low[term] === low && this.#high[term] === high)) return slot;
    }
  }

  #enlarge(): void {
    const size = 2 * this.#high.length;
    this.#high = enlarged(this.#high, size);
    this.#low = enlarged(this.#low, size);
    this.#addresses = enlarged(this.#addresses, size);
    this.#lengths = enlarged(this.#lengths, size);
    this.#slots = new Int32Array(2 * size);
    for (let term = 0; term < this.#terms; term += 1) {
      this.#slots[this.#slotOf(this.#high[term] as number, this.#low[term] as number)] = term + 1;
    }
  }
}

function enlarged(numbers: Uint32Array<ArrayBuffer>, size: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(size);
  larger.set(numbers);
  return larger;
}
