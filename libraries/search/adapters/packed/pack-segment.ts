import type { Turns } from '#kit/concurrency/turns';
import { valuesAt } from '../../condition.ts';
import type { AttributeValue, IndexEntry } from '../../ports.ts';
import {
  aligned,
  hasOwnId,
  labelPath,
  mostOccurrencesPacked,
  type PackedPath,
  rowsOfSegment,
  type SegmentPart,
  segmentHeaderNumbers,
  segmentMark,
  segmentParts,
  vectorLevels,
} from './segment-layout.ts';

type Row = { readonly entry: IndexEntry; readonly group: Buffer; readonly id: Buffer };

/**
 * The bytes of a segment of entries, in the layout of `segmentParts`. A component of a vector is stored in 8 bits with
 * a scale for each vector, so that a score differs from the exact score by a few ten-thousandths.
 * @param entries at most `rowsOfSegment` entries with different ids; all of their vectors have the same number of
 * dimensions
 */
export function packSegment(entries: readonly IndexEntry[]): Buffer {
  const steps = packing(entries);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/**
 * Packs a segment in several turns of the event loop, so that other work of the process does not wait for a whole
 * segment.
 */
export async function packSegmentInTurns(entries: readonly IndexEntry[], turns: Turns): Promise<Buffer> {
  const steps = packing(entries);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (turns.isOver()) await turns.next();
  }
}

/** Yields after each few rows. */
type Packing<T> = Generator<void, T>;
const rowsOfStep = 32;

function* packing(entries: readonly IndexEntry[]): Packing<Buffer> {
  if (entries.length > rowsOfSegment) throw new Error(`a segment holds ${rowsOfSegment} rows, not ${entries.length}`);
  const rows = entries
    .map((entry): Row => ({ entry, group: Buffer.from(entry.group), id: Buffer.from(entry.id) }))
    .sort((one, other) => one.group.compare(other.group) || one.id.compare(other.id));
  yield;
  const dimensions = rows.find(({ entry }) => entry.vector !== undefined)?.entry.vector?.length ?? 0;
  const parts = new Map<SegmentPart, Uint8Array>([
    ['lengths', bytesOf(Uint32Array.from(rows, ({ entry }) => entry.terms.length))],
    ...packNames(rows),
    ...(yield* packTerms(rows)),
    ...(yield* packValues(rows)),
    ...(yield* packVectors(rows, dimensions)),
  ]);
  return joinParts(parts, rows.length, dimensions);
}

/** Visits rows in their order. */
function* eachRow(rows: readonly Row[], visit: (row: Row, at: number) => void): Packing<void> {
  for (const [at, row] of rows.entries()) {
    visit(row, at);
    if (at % rowsOfStep === rowsOfStep - 1) yield;
  }
}

function joinParts(parts: ReadonlyMap<SegmentPart, Uint8Array>, rows: number, dimensions: number): Buffer {
  const header = new Uint32Array(segmentHeaderNumbers);
  header.set([segmentMark, rows, dimensions]);
  const pieces: Uint8Array[] = [bytesOf(header)];
  let end = header.byteLength;
  for (const [at, name] of segmentParts.entries()) {
    const part = parts.get(name) ?? new Uint8Array();
    pieces.push(part, new Uint8Array(aligned(part.length) - part.length));
    header[3 + at] = end + part.length;
    end += aligned(part.length);
  }
  // Separate memory: a small buffer of Node's pool would keep the whole pool, several times its size, in memory.
  const bytes = Buffer.allocUnsafeSlow(end);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

type Packed = [SegmentPart, Uint8Array][];

function packNames(rows: readonly Row[]): Packed {
  const groupEnds = new Uint16Array(rows.length);
  const names = rows.map(({ group, id }, row) => {
    if (group.length >= hasOwnId)
      throw new Error(`the name of a group has ${group.length} bytes, at most ${hasOwnId - 1} are possible`);
    const isPrefix = id.subarray(0, group.length).equals(group);
    groupEnds[row] = isPrefix ? group.length : group.length | hasOwnId;
    return isPrefix ? id : Buffer.concat([group, id]);
  });
  return [['groupEnds', bytesOf(groupEnds)], ...packStrings('names', 'nameOffsets', names)];
}

function packStrings(name: SegmentPart, offsetsName: SegmentPart, strings: readonly Buffer[]): Packed {
  const offsets = new Uint32Array(strings.length + 1);
  let end = 0;
  for (const [at, { length }] of strings.entries()) {
    end += length;
    offsets[at + 1] = end;
  }
  return [
    [name, Buffer.concat(strings)],
    [offsetsName, bytesOf(offsets)],
  ];
}

function* packTerms(rows: readonly Row[]): Packing<Packed> {
  const occurrences = new Map<string, number[]>();
  yield* eachRow(rows, ({ entry }, row) => {
    const counts = new Map<string, number>();
    for (const term of entry.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const packed = (row << 5) | Math.min(count, mostOccurrencesPacked);
      const known = occurrences.get(term);
      if (known === undefined) occurrences.set(term, [packed]);
      else known.push(packed);
    }
  });
  const sorted = [...occurrences]
    .map(([term, packed]) => ({ term: Buffer.from(term), packed }))
    .sort((one, other) => one.term.compare(other.term));
  yield;
  const { numbers, offsets } = concatNumbers(sorted.map(({ packed }) => packed));
  return [
    ...packStrings(
      'terms',
      'termOffsets',
      sorted.map(({ term }) => term),
    ),
    ['postings', bytesOf(numbers)],
    ['postingOffsets', bytesOf(offsets)],
  ];
}

function concatNumbers(lists: readonly (readonly number[])[]): { numbers: Uint16Array; offsets: Uint32Array } {
  const offsets = new Uint32Array(lists.length + 1);
  let end = 0;
  for (const [at, { length }] of lists.entries()) {
    end += length;
    offsets[at + 1] = end;
  }
  const numbers = new Uint16Array(end);
  for (const [at, list] of lists.entries()) numbers.set(list, offsets[at]);
  return { numbers, offsets };
}

function* packValues(rows: readonly Row[]): Packing<Packed> {
  const byPath = new Map<string, Map<AttributeValue, number[]>>();
  yield* eachRow(rows, ({ entry }, row) => {
    for (const path of Object.keys(entry.attributes)) addValues(byPath, path, valuesAt(entry.attributes, path), row);
    addValues(byPath, labelPath, entry.labels, row);
  });
  const paths: PackedPath[] = [];
  const values: Buffer[] = [];
  const lists: number[][] = [];
  let start = 0;
  for (const [path, rowsOfValues] of byPath) {
    const json = Buffer.from(JSON.stringify([...rowsOfValues.keys()]));
    paths.push({ path, start, end: start + json.length, firstValue: lists.length });
    start += json.length;
    values.push(json);
    lists.push(...rowsOfValues.values());
  }
  const { numbers, offsets } = concatNumbers(lists);
  return [
    ['paths', Buffer.from(JSON.stringify(paths))],
    ['values', Buffer.concat(values)],
    ['valueRows', bytesOf(numbers)],
    ['valueOffsets', bytesOf(offsets)],
  ];
}

function addValues(
  byPath: Map<string, Map<AttributeValue, number[]>>,
  path: string,
  values: readonly AttributeValue[],
  row: number,
): void {
  if (values.length === 0) return;
  const known = byPath.get(path) ?? new Map<AttributeValue, number[]>();
  byPath.set(path, known);
  for (const value of new Set(values)) {
    const rows = known.get(value);
    if (rows === undefined) known.set(value, [row]);
    else rows.push(row);
  }
}

function* packVectors(rows: readonly Row[], dimensions: number): Packing<Packed> {
  const scales = new Float32Array(rows.length).fill(Number.NaN);
  const vectors = new Int8Array(rows.length * dimensions);
  yield* eachRow(rows, ({ entry: { vector } }, row) => {
    if (vector === undefined) return;
    if (vector.length !== dimensions) throw new Error(`a vector has ${vector.length} dimensions, not ${dimensions}`);
    let most = 0;
    for (const component of vector) most = Math.max(most, Math.abs(component));
    const scale = most / vectorLevels;
    scales[row] = scale;
    if (most === 0) return;
    for (let at = 0; at < dimensions; at += 1) {
      vectors[row * dimensions + at] = Math.round((vector[at] as number) / scale);
    }
  });
  return [
    ['scales', bytesOf(scales)],
    ['vectors', bytesOf(vectors)],
  ];
}

function bytesOf(numbers: ArrayBufferView): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
