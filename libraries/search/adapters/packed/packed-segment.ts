import type { Turns } from '#kit/concurrency/turns';
import { type AttributeCondition, type Comparison, valueFulfils } from '../../condition.ts';
import type { AttributeValue } from '../../ports.ts';
import { keepBoth, keepEither, opposite } from '../../row-flags.ts';
import {
  aligned,
  hasOwnId,
  labelPath,
  type PackedPath,
  rowsOfSegment,
  type SegmentPart,
  segmentHeaderNumbers,
  segmentMark,
  segmentParts,
} from './segment-layout.ts';

/** The postings of a term: row << 5 | occurrences. */
export type Postings = Uint16Array;

/** A read-only view of the bytes of a segment. Before a query, only the header is read. */
export class PackedSegment {
  readonly rows: number;
  readonly dimensions: number;
  /** Terms of each row. */
  readonly lengths: Uint32Array;
  /** The value of a component of 1 in the vector of a row; NaN without a vector. */
  readonly scales: Float32Array;
  /** `dimensions` components for each row. */
  readonly vectors: Int8Array;
  readonly #parts: ReadonlyMap<SegmentPart, Buffer>;
  readonly #groupEnds: Uint16Array;
  readonly #nameOffsets: Uint32Array;
  readonly #termOffsets: Uint32Array;
  readonly #postings: Uint16Array;
  readonly #postingOffsets: Uint32Array;
  readonly #values = new Map<string, readonly AttributeValue[]>();
  readonly #ids: (string | undefined)[] = [];
  #paths: ReadonlyMap<string, PackedPath> | undefined;

  /** @throws Error if the bytes are not a segment of this layout */
  constructor(bytes: Buffer) {
    const buffer = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
    if (buffer.length < segmentHeaderNumbers * 4) throw new Error('a segment has no header');
    const header = new Uint32Array(buffer.buffer, buffer.byteOffset, segmentHeaderNumbers);
    if (header[0] !== segmentMark) throw new Error('a segment has another layout');
    this.rows = header[1] as number;
    this.dimensions = header[2] as number;
    this.#parts = partsOf(buffer, header);
    this.lengths = this.#longs('lengths');
    const scales = this.#part('scales');
    this.scales = new Float32Array(scales.buffer, scales.byteOffset, scales.length / 4);
    const vectors = this.#part('vectors');
    this.vectors = new Int8Array(vectors.buffer, vectors.byteOffset, vectors.length);
    this.#groupEnds = this.#shorts('groupEnds');
    this.#nameOffsets = this.#longs('nameOffsets');
    this.#termOffsets = this.#longs('termOffsets');
    this.#postings = this.#shorts('postings');
    this.#postingOffsets = this.#longs('postingOffsets');
    const isWhole = this.lengths.length === this.rows && vectors.length === this.rows * this.dimensions;
    if (!isWhole || this.rows > rowsOfSegment) throw new Error('a segment is incomplete');
  }

  id(row: number): string {
    const known = this.#ids[row];
    if (known !== undefined) return known;
    const end = this.#groupEnds[row] as number;
    const name = this.#name(row);
    const id = (end & hasOwnId ? name.subarray(end & ~hasOwnId) : name).toString();
    this.#ids[row] = id;
    return id;
  }

  group(row: number): string {
    return this.#group(row).toString();
  }

  /** The rows of a group: from the first number up to, but not including, the second number. */
  rowsOfGroup(group: string): readonly [number, number] {
    const wanted = Buffer.from(group);
    const from = lowerBound(this.rows, (row) => this.#group(row).compare(wanted) < 0);
    let to = from;
    while (to < this.rows && this.#group(to).equals(wanted)) to += 1;
    return [from, to];
  }

  postings(term: string): Postings {
    const wanted = Buffer.from(term);
    const terms = this.#part('terms');
    const count = this.#postingOffsets.length - 1;
    const at = (no: number): Buffer => terms.subarray(this.#termOffsets[no], this.#termOffsets[no + 1]);
    const found = lowerBound(count, (no) => at(no).compare(wanted) < 0);
    if (found === count || !at(found).equals(wanted)) return this.#postings.subarray(0, 0);
    return this.#postings.subarray(this.#postingOffsets[found], this.#postingOffsets[found + 1]);
  }

  /** One flag for each row: 1 if the row has one of the labels. */
  labelled(labels: readonly string[]): Uint8Array {
    return this.#compare({ path: labelPath, op: 'in', value: labels });
  }

  /** One flag for each row: 1 if the row fulfils the condition. */
  async select(condition: AttributeCondition, turns: Turns): Promise<Uint8Array> {
    if ('and' in condition) {
      const flags = new Uint8Array(this.rows).fill(1);
      for (const part of condition.and) keepBoth(flags, await this.select(part, turns));
      return flags;
    }
    if ('or' in condition) {
      const flags = new Uint8Array(this.rows);
      for (const part of condition.or) keepEither(flags, await this.select(part, turns));
      return flags;
    }
    if (turns.isOver()) await turns.next();
    if ('not' in condition) return opposite(await this.select(condition.not, turns));
    if (condition.op === 'ne') return opposite(this.#compare({ ...condition, op: 'eq' }));
    return this.#compare(condition);
  }

  #compare(comparison: Exclude<Comparison, { op: 'ne' }>): Uint8Array {
    const flags = new Uint8Array(this.rows);
    const path = this.#path(comparison.path);
    if (path === undefined) return flags;
    const offsets = this.#longs('valueOffsets');
    const rows = this.#shorts('valueRows');
    const named = comparison.op === 'in' ? new Set(comparison.value) : undefined;
    for (const [at, value] of this.#valuesOf(path).entries()) {
      if (!(named?.has(value) ?? valueFulfils(value, comparison))) continue;
      const end = offsets[path.firstValue + at + 1] as number;
      for (let no = offsets[path.firstValue + at] as number; no < end; no += 1) flags[rows[no] as number] = 1;
    }
    return flags;
  }

  #path(name: string): PackedPath | undefined {
    this.#paths ??= new Map(
      (JSON.parse(this.#part('paths').toString()) as readonly PackedPath[]).map((path) => [path.path, path]),
    );
    return this.#paths.get(name);
  }

  #valuesOf({ path, start, end }: PackedPath): readonly AttributeValue[] {
    const known = this.#values.get(path);
    if (known !== undefined) return known;
    const values = JSON.parse(this.#part('values').subarray(start, end).toString()) as readonly AttributeValue[];
    this.#values.set(path, values);
    return values;
  }

  #name(row: number): Buffer {
    return this.#part('names').subarray(this.#nameOffsets[row], this.#nameOffsets[row + 1]);
  }

  #group(row: number): Buffer {
    return this.#name(row).subarray(0, (this.#groupEnds[row] as number) & ~hasOwnId);
  }

  #part(name: SegmentPart): Buffer {
    return this.#parts.get(name) as Buffer;
  }

  #longs(name: SegmentPart): Uint32Array {
    const part = this.#part(name);
    return new Uint32Array(part.buffer, part.byteOffset, part.length / 4);
  }

  #shorts(name: SegmentPart): Uint16Array {
    const part = this.#part(name);
    return new Uint16Array(part.buffer, part.byteOffset, part.length / 2);
  }
}

function partsOf(buffer: Buffer, header: Uint32Array): ReadonlyMap<SegmentPart, Buffer> {
  const parts = new Map<SegmentPart, Buffer>();
  let start = segmentHeaderNumbers * 4;
  for (const [at, name] of segmentParts.entries()) {
    const end = header[3 + at] as number;
    if (end < start || end > buffer.length) throw new Error('a segment is incomplete');
    parts.set(name, buffer.subarray(start, end));
    start = aligned(end);
  }
  return parts;
}

/** The first number below `count` for which `isBefore` is false. */
function lowerBound(count: number, isBefore: (no: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
