import type { Turns } from '#kit/concurrency/turns';
import type { AttributeCondition } from '../../condition.ts';
import { ownString } from '../../own-string.ts';
import { blockOf } from '../../packed/block-of.ts';
import { type PackedRows, readPacked } from '../../packed/read-packed.ts';
import type { EntryBlock, EntryScope, IndexChange } from '../../ports.ts';
import { pageBytes } from './dot-products.ts';
import { LabelRows } from './label-rows.ts';
import { TermPostings } from './term-postings.ts';
import { ValueRows } from './value-rows.ts';
import { mostDimensions, type VectorMemory, vectorBytes } from './vector-memory.ts';

/** The rows that a query may find, at the time when it began. */
export type VisibleRows = {
  /** One flag for each row: 1 if the row is visible. */
  readonly flags: Uint8Array;
  readonly count: number;
  /** Terms of all visible rows together. */
  readonly terms: number;
};

/**
 * The entries of one partition, one in each row. A row is never changed, except that it can end: a changed entry gets a
 * new row, so that a query continues with the rows with which it began while changes arrive.
 */
export class PartitionRows {
  readonly ids: string[] = [];
  /** Number of terms of each row. */
  readonly lengths: number[] = [];
  readonly postings = new TermPostings();
  readonly #vectors: VectorMemory;
  readonly #alive: boolean[] = [];
  readonly #hasVector: boolean[] = [];
  readonly #rowOfId = new Map<string, number>();
  readonly #rowsOfGroup = new Map<string, number[]>();
  readonly #labels = new LabelRows();
  readonly #values = new ValueRows();
  readonly #pages: number[] = [];
  #dimensions = 0;
  #scopeBytes = 0;

  constructor(vectors: VectorMemory) {
    this.#vectors = vectors;
  }

  get live(): number {
    return this.#rowOfId.size;
  }

  get dead(): number {
    return this.ids.length - this.live;
  }

  /** Dimensions of the vectors; 0 while no entry has a vector. */
  get dimensions(): number {
    return this.#dimensions;
  }

  /** An estimate of the memory that this partition occupies. */
  get bytes(): number {
    const numbers = this.#labels.size + this.#values.size;
    const rows = 10 * numbers + 300 * this.ids.length + this.#scopeBytes;
    return this.#pages.length * pageBytes + this.postings.bytes + rows;
  }

  apply(change: IndexChange): void {
    if (change.kind === 'retain') this.#retain(change.group, new Set(change.ids));
    else this.putBlock(blockOf([change.entry]));
  }

  /** Adds the entries of a block. @throws Error for a block that `packEntries` did not write, or other dimensions */
  putBlock({ packed, scopeOf, scopeBytes }: EntryBlock): void {
    const block = readPacked(packed);
    if (block === undefined) throw new Error('a block of entries has another layout');
    const firstRow = this.ids.length;
    this.#writeVectors(firstRow, block);
    for (const [at, id] of block.ids.entries()) this.#addRow(id, block.lengths[at] as number, scopeOf(at));
    this.#scopeBytes += scopeBytes;
    for (const flag of block.hasVector) this.#hasVector.push(flag === 1);
    let from = 0;
    for (let term = 0; term < block.ends.length; term += 1) {
      const end = block.ends[term] as number;
      const occurrences = block.occurrences.subarray(from, end);
      this.postings.append(block.high[term] as number, block.low[term] as number, occurrences, firstRow);
      from = end;
    }
  }

  /** The rows with one of the labels that fulfil the condition, as they are after the attributes have been read. */
  async visible(
    labels: readonly string[] | 'every',
    condition: AttributeCondition | undefined,
    turns: Turns,
  ): Promise<VisibleRows> {
    while (condition !== undefined && !this.#values.isRead) await this.#values.prepare(turns);
    const flags = this.#flag(labels);
    if (condition === undefined) return this.#counted(flags);
    // Even if rows end or are added while the condition is evaluated, these are the rows at one moment.
    const fulfilling = await this.#values.select(condition, flags.length, turns);
    for (let row = 0; row < flags.length; row += 1) flags[row] = (flags[row] as number) & (fulfilling[row] as number);
    return this.#counted(flags);
  }

  /** The rows with one of the labels that have not ended. */
  #flag(labels: readonly string[] | 'every'): Uint8Array {
    const size = this.ids.length;
    const flags = new Uint8Array(size);
    if (labels === 'every') flags.fill(1);
    else this.#labels.raise(labels, flags);
    for (let row = 0; row < size; row += 1) if (!this.#alive[row]) flags[row] = 0;
    return flags;
  }

  #counted(flags: Uint8Array): VisibleRows {
    let count = 0;
    let terms = 0;
    for (let row = 0; row < flags.length; row += 1) {
      if (flags[row] === 0) continue;
      count += 1;
      terms += this.lengths[row] as number;
    }
    return { flags, count, terms };
  }

  /** The address of the vector of a row; undefined if the row has no vector. */
  vectorAddress(row: number): number | undefined {
    if (!this.#hasVector[row]) return undefined;
    return this.#addressOf(row);
  }

  /** Releases the memory of the vectors; the rows are not used afterwards. */
  release(): void {
    this.#vectors.release(this.#pages.splice(0));
  }

  #addressOf(row: number): number {
    const bytes = vectorBytes(this.#dimensions);
    const perPage = Math.floor(pageBytes / bytes);
    return (this.#pages[Math.floor(row / perPage)] as number) + (row % perPage) * bytes;
  }

  #addRow(id: string, length: number, scope: EntryScope): void {
    const row = this.ids.length;
    this.#end(id);
    const own = ownString(id);
    this.ids.push(own);
    this.lengths.push(length);
    this.#alive.push(true);
    this.#rowOfId.set(own, row);
    this.#addToGroup(scope.group, row);
    this.#labels.add(scope.labels, row);
    this.#values.add(scope);
  }

  /** Called before the rows are added, so that a block with other dimensions adds no rows. */
  #writeVectors(firstRow: number, { hasVector, dimensions, vectors }: PackedRows): void {
    if (vectors.length > 0) this.#checkDimensions(dimensions);
    if (this.#dimensions === 0) return;
    const perPage = Math.floor(pageBytes / vectorBytes(this.#dimensions));
    const end = firstRow + hasVector.length;
    while (this.#pages.length * perPage < end) this.#pages.push(this.#vectors.allocate());
    let from = 0;
    for (let at = 0; at < hasVector.length; at += 1) {
      if (hasVector[at] !== 1) continue;
      this.#vectors.write(this.#addressOf(firstRow + at), vectors.subarray(from, from + dimensions));
      from += dimensions;
    }
  }

  #checkDimensions(given: number): void {
    if (this.#dimensions === 0 && given > 0 && given <= mostDimensions) this.#dimensions = given;
    if (given !== this.#dimensions) throw new Error(`a vector has ${given} dimensions, not ${this.#dimensions}`);
  }

  #end(id: string): void {
    const row = this.#rowOfId.get(id);
    if (row === undefined) return;
    this.#alive[row] = false;
    this.#rowOfId.delete(id);
  }

  #addToGroup(group: string, row: number): void {
    const rows = this.#rowsOfGroup.get(group);
    if (rows === undefined) this.#rowsOfGroup.set(ownString(group), [row]);
    else rows.push(row);
  }

  #retain(group: string, ids: ReadonlySet<string>): void {
    const rows = this.#rowsOfGroup.get(group) ?? [];
    for (const row of rows)
      if (this.#alive[row] && !ids.has(this.ids[row] as string)) this.#end(this.ids[row] as string);
    const left = rows.filter((row) => this.#alive[row]);
    if (left.length === 0) this.#rowsOfGroup.delete(group);
    else this.#rowsOfGroup.set(ownString(group), left);
  }
}
