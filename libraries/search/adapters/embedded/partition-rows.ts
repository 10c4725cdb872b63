import type { AttributeCondition } from '../../condition.ts';
import { ownString } from '../../own-string.ts';
import type { IndexChange, IndexEntry } from '../../ports.ts';
import { pageBytes } from './dot-products.ts';
import { ValueRows } from './value-rows.ts';
import { mostDimensions, type VectorMemory, vectorBytes } from './vector-memory.ts';

/** Occurrences of a term in one row beyond this count add nothing to its score. */
const mostOccurrences = 255;

/** The row of a packed occurrence; memory ends long before the 16 million rows that fit. */
export const rowOf = (packed: number): number => packed >>> 8;
/** How often the term occurs in the row. */
export const occurrencesOf = (packed: number): number => packed & mostOccurrences;

/** The rows that a query may find, at the time when it began. */
export type VisibleRows = {
  /** One flag for each row: 1 if it is visible. */
  readonly flags: Uint8Array;
  readonly count: number;
  /** Terms of all visible rows together. */
  readonly terms: number;
};

/**
 * The entries of one partition, one in each row. A row is never changed but for its end: a changed entry gets a new row,
 * so that a query continues on the rows that it began with while changes arrive.
 */
export class PartitionRows {
  readonly ids: string[] = [];
  /** Number of terms of each row. */
  readonly lengths: number[] = [];
  /** Rows and occurrences by term, packed as row * 256 + occurrences, in the order of the rows. */
  readonly postings = new Map<string, number[]>();
  readonly #vectors: VectorMemory;
  readonly #alive: boolean[] = [];
  readonly #hasVector: boolean[] = [];
  readonly #rowOfId = new Map<string, number>();
  readonly #rowsOfGroup = new Map<string, number[]>();
  readonly #rowsOfLabel = new Map<string, number[]>();
  readonly #values = new ValueRows();
  readonly #pages: number[] = [];
  #dimensions = 0;
  #occurrences = 0;
  #labelled = 0;

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
    const numbers = this.#occurrences + this.#labelled + this.#values.size;
    return this.#pages.length * pageBytes + 10 * numbers + 120 * this.postings.size + 300 * this.ids.length;
  }

  apply(change: IndexChange): void {
    if (change.kind === 'put') this.put(change.entry);
    else this.#retain(change.group, new Set(change.ids));
  }

  put(entry: IndexEntry): void {
    const row = this.ids.length;
    this.#writeVector(row, entry.vector);
    this.#end(entry.id);
    const id = ownString(entry.id);
    this.ids.push(id);
    this.lengths.push(entry.terms.length);
    this.#alive.push(true);
    this.#hasVector.push(entry.vector !== undefined);
    this.#rowOfId.set(id, row);
    addRow(this.#rowsOfGroup, entry.group, row);
    for (const label of new Set(entry.labels)) {
      addRow(this.#rowsOfLabel, label, row);
      this.#labelled += 1;
    }
    this.#values.add(row, entry.attributes);
    this.#addTerms(row, entry.terms);
  }

  /** The rows with one of the labels that fulfil the condition. */
  visible(labels: readonly string[] | 'every', condition: AttributeCondition | undefined): VisibleRows {
    const size = this.ids.length;
    const flags = new Uint8Array(size);
    if (labels === 'every') flags.fill(1);
    else for (const label of labels) for (const row of this.#rowsOfLabel.get(label) ?? []) flags[row] = 1;
    const fulfilling = condition === undefined ? undefined : this.#values.select(condition, size);
    let count = 0;
    let terms = 0;
    for (let row = 0; row < size; row += 1) {
      if (flags[row] === 0) continue;
      if (!this.#alive[row] || fulfilling?.[row] === 0) flags[row] = 0;
      else {
        count += 1;
        terms += this.lengths[row] as number;
      }
    }
    return { flags, count, terms };
  }

  /** Where the vector of a row is; undefined if it has none. */
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

  #writeVector(row: number, vector: Float32Array | undefined): void {
    if (vector !== undefined) this.#checkDimensions(vector.length);
    if (this.#dimensions === 0) return;
    const perPage = Math.floor(pageBytes / vectorBytes(this.#dimensions));
    while (this.#pages.length * perPage <= row) this.#pages.push(this.#vectors.allocate());
    if (vector !== undefined) this.#vectors.write(this.#addressOf(row), vector);
  }

  #checkDimensions(given: number): void {
    if (this.#dimensions === 0 && given > 0 && given <= mostDimensions) this.#dimensions = given;
    if (given !== this.#dimensions) throw new Error(`a vector has ${given} dimensions, not ${this.#dimensions}`);
  }

  #addTerms(row: number, terms: readonly string[]): void {
    for (const term of terms) {
      const occurrences = this.postings.get(term);
      const last = occurrences?.[occurrences.length - 1];
      if (occurrences === undefined) this.postings.set(ownString(term), [row * 256 + 1]);
      else if (last === undefined || rowOf(last) !== row) occurrences.push(row * 256 + 1);
      else if (occurrencesOf(last) < mostOccurrences) occurrences[occurrences.length - 1] = last + 1;
    }
    // Repeated terms are counted too: an estimate from above.
    this.#occurrences += terms.length;
  }

  #end(id: string): void {
    const row = this.#rowOfId.get(id);
    if (row === undefined) return;
    this.#alive[row] = false;
    this.#rowOfId.delete(id);
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

function addRow(rows: Map<string, number[]>, key: string, row: number): void {
  const known = rows.get(key);
  if (known === undefined) rows.set(ownString(key), [row]);
  else known.push(row);
}
