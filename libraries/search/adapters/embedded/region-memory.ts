/** Numbers of the first page, and most numbers of a page that several regions share. */
const firstPage = 1_024;
const pageBits = 20;
const largestPage = 2 ** pageBits;
/** Capacity of the smallest region, in numbers; half of the terms of a language occur once or twice. */
const smallestRegion = 2;

/**
 * Growing lists of numbers in few arrays: a list has a region whose size is a power of two, and moves into a region of
 * twice the size when it is full. Abandoned regions are used again. An address has the page in its upper 12 bits and
 * the place in the page in its lower bits; address 0 means an empty list.
 */
export class RegionMemory {
  readonly #pages: Uint32Array[] = [new Uint32Array(firstPage)];
  /** Addresses of unused regions, by the logarithm of their size. */
  readonly #free: readonly number[][] = Array.from({ length: 32 }, () => []);
  #page = 0;
  // Address 0 is not a region.
  #next = smallestRegion;
  #numbers = firstPage;

  get bytes(): number {
    return 4 * this.#numbers;
  }

  /** The first numbers at an address, valid until the region grows. */
  read(address: number, length: number): Uint32Array {
    const place = address & (largestPage - 1);
    return this.#pageOf(address).subarray(place, place + length);
  }

  /** The new address of a list with `length` numbers after it was given room for `needed` numbers. */
  grow(address: number, length: number, needed: number): number {
    const size = sizeFor(length);
    const wanted = sizeFor(needed);
    if (length > 0 && wanted === size) return address;
    const moved = this.#allocate(wanted);
    if (length > 0) {
      this.#pageOf(moved).set(this.read(address, length), moved & (largestPage - 1));
      this.#freeOf(size).push(address);
    }
    return moved;
  }

  /** Writes numbers, each plus `shift`, within a region, after those that it has. */
  append(address: number, length: number, numbers: Uint32Array, shift: number): void {
    const page = this.#pageOf(address);
    const place = (address & (largestPage - 1)) + length;
    for (let at = 0; at < numbers.length; at += 1) page[place + at] = (numbers[at] as number) + shift;
  }

  #pageOf(address: number): Uint32Array {
    return this.#pages[address >>> pageBits] as Uint32Array;
  }

  #freeOf(size: number): number[] {
    return this.#free[31 - Math.clz32(size)] as number[];
  }

  #allocate(size: number): number {
    const free = this.#freeOf(size).pop();
    if (free !== undefined) return free;
    if (size >= largestPage) return (this.#addPage(size) << pageBits) >>> 0;
    if (this.#next + size > (this.#pages[this.#page] as Uint32Array).length) {
      // Each page is twice as large as the previous one, so that a small partition has a small page.
      const last = (this.#pages[this.#page] as Uint32Array).length;
      this.#page = this.#addPage(Math.max(size, Math.min(2 * last, largestPage)));
      this.#next = 0;
    }
    const address = ((this.#page << pageBits) | this.#next) >>> 0;
    this.#next += size;
    return address;
  }

  #addPage(size: number): number {
    this.#pages.push(new Uint32Array(size));
    this.#numbers += size;
    return this.#pages.length - 1;
  }
}

function sizeFor(length: number): number {
  if (length <= smallestRegion) return smallestRegion;
  return 1 << (32 - Math.clz32(length - 1));
}
