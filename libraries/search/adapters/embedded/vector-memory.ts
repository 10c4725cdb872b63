import { type DotProducts, openDotProducts, pageBytes, stepBytes, type WasmMemory } from './dot-products.ts';

/** Number of rows in one call of `dotProducts`. */
export const mostRows = 2_048;
/** A vector fills at most one page. */
export const mostDimensions = pageBytes / 4;
/** 4 GiB, the range of addresses of 32 bits. */
const mostPages = 65_536;

/** The first pages hold the arguments and results of `dotProducts`: the query, the addresses, the products. */
const queryAddress = 0;
const rowsAddress = pageBytes;
const resultsAddress = rowsAddress + 4 * mostRows;
const ownPages = 2;
/** Pages by which the memory grows, 4 MiB. */
const growthPages = 64;

/** Number of bytes that one vector occupies. */
export function vectorBytes(dimensions: number): number {
  return Math.ceil((dimensions * 4) / stepBytes) * stepBytes;
}

/** Pages of vectors for all partitions. Released pages are given out again; the memory itself never shrinks. */
export class VectorMemory {
  readonly #memory: WasmMemory;
  readonly #dotProducts: DotProducts;
  readonly #free: number[] = [];
  #floats: Float32Array;
  #addresses: Uint32Array;
  #next = ownPages;
  #pages = ownPages;

  constructor() {
    const { memory, dotProducts } = openDotProducts({ initial: ownPages, maximum: mostPages });
    this.#memory = memory;
    this.#dotProducts = dotProducts;
    this.#floats = new Float32Array(memory.buffer);
    this.#addresses = new Uint32Array(memory.buffer);
  }

  /** The address of a new page of zeros. @throws RangeError if no memory is left */
  allocate(): number {
    const free = this.#free.pop();
    if (free !== undefined) {
      this.#floats.fill(0, free / 4, (free + pageBytes) / 4);
      return free;
    }
    if (this.#next === this.#pages) this.#grow();
    this.#next += 1;
    return (this.#next - 1) * pageBytes;
  }

  release(addresses: readonly number[]): void {
    for (const address of addresses) this.#free.push(address);
  }

  write(address: number, vector: Float32Array): void {
    this.#floats.set(vector, address / 4);
  }

  /** The products of the vector with those at the first `count` addresses; valid until the next call. */
  dotProducts(vector: Float32Array, addresses: Uint32Array, count: number): Float32Array {
    const bytes = vectorBytes(vector.length);
    this.#floats.fill(0, queryAddress / 4, (queryAddress + bytes) / 4);
    this.#floats.set(vector, queryAddress / 4);
    this.#addresses.set(addresses.subarray(0, count), rowsAddress / 4);
    if (count > 0) this.#dotProducts(rowsAddress, count, queryAddress, bytes, resultsAddress);
    return this.#floats.subarray(resultsAddress / 4, resultsAddress / 4 + count);
  }

  #grow(): void {
    const pages = Math.min(growthPages, mostPages - this.#pages);
    this.#memory.grow(Math.max(pages, 1));
    this.#pages += pages;
    this.#floats = new Float32Array(this.#memory.buffer);
    this.#addresses = new Uint32Array(this.#memory.buffer);
  }
}
