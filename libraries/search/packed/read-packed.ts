import { headerNumbers, packedLayout } from './pack-entries.ts';

/** A packed block as views of its bytes. */
export type PackedRows = {
  readonly ids: readonly string[];
  /** Number of terms of each entry. */
  readonly lengths: Uint32Array;
  /** For each entry, 1 if it has a vector. */
  readonly hasVector: Uint32Array;
  /** Hashes of the distinct terms. */
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  /** For each distinct term, the end of its part of `occurrences`. */
  readonly ends: Uint32Array;
  /** The occurrences, each as entry * 256 + count. */
  readonly occurrences: Uint32Array;
  /** Dimension of the vectors; 0 without vectors. */
  readonly dimensions: number;
  /** The vectors of the entries that have one, one after another. */
  readonly vectors: Float32Array;
};

/** Reads the result of `packEntries`; undefined for another layout or an incomplete block. */
export function readPacked(given: Uint8Array): PackedRows | undefined {
  // Numbers of 32 bits require an aligned offset.
  const bytes = given.byteOffset % 4 === 0 ? given : Uint8Array.from(given);
  if (bytes.byteLength < 4 * headerNumbers) return undefined;
  const header = new Uint32Array(bytes.buffer, bytes.byteOffset, headerNumbers);
  const [layout = 0, entries = 0, terms = 0, occurrences = 0, dimensions = 0, idBytes = 0] = header;
  if (layout !== packedLayout) return undefined;
  let at = bytes.byteOffset + 4 * headerNumbers;
  const fixed = 4 * (headerNumbers + 3 * entries + 3 * terms + occurrences) + idBytes;
  if (bytes.byteLength < fixed) return undefined;
  const take = (length: number): Uint32Array => {
    const numbers = new Uint32Array(bytes.buffer, at, length);
    at += 4 * length;
    return numbers;
  };
  const [idEnds, lengths, hasVector] = [take(entries), take(entries), take(entries)];
  const [high, low, ends] = [take(terms), take(terms), take(terms)];
  const occurrence = take(occurrences);
  const floats = dimensions * hasVector.reduce((sum, flag) => sum + flag, 0);
  if (bytes.byteLength !== fixed + 4 * floats) return undefined;
  const vectors = new Float32Array(bytes.buffer, at, floats);
  const ids = readIds(Buffer.from(bytes.buffer, at + 4 * floats, idBytes), idEnds);
  return { ids, lengths, hasVector, high, low, ends, occurrences: occurrence, dimensions, vectors };
}

function readIds(bytes: Buffer, ends: Uint32Array): readonly string[] {
  const ids: string[] = [];
  let from = 0;
  for (const end of ends) {
    ids.push(bytes.toString('utf8', from, end));
    from = end;
  }
  return ids;
}
