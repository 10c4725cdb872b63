import type { EntryContent } from '../ports.ts';
import { hashTerm, type TermHash } from './hash-term.ts';
import { packOccurrence } from './occurrence.ts';

/** Names the layout below; a block of another layout is not read. */
export const packedLayout = 0x3150_4350;

/** Numbers of 32 bits before the tables: layout, entries, terms, occurrences, dimensions, bytes of the ids. */
export const headerNumbers = 6;

/** Maximum number of entries of one block. */
export const mostPacked = 65_535;

type PackedTerm = TermHash & { readonly occurrences: number[] };

/**
 * The content of entries in one block of bytes, which an index uses without splitting and stemming the texts again; the
 * block is made once, when the entries are stored. All numbers have 32 bits, little-endian: the header; for each entry
 * the end of its id, its number of terms and 1 if it has a vector; for each distinct term both halves of its hash and
 * the end of its occurrences; the occurrences by term, each as entry * 256 + count; the vectors one after another; then
 * the ids in UTF-8.
 * @throws Error for more than 65,535 entries, or vectors of different lengths
 */
export function packEntries(entries: readonly EntryContent[]): Uint8Array<ArrayBuffer> {
  if (entries.length > mostPacked) throw new Error(`a block holds ${entries.length} entries, at most ${mostPacked}`);
  const terms = collectTerms(entries);
  const dimensions = entries.find(({ vector }) => vector !== undefined)?.vector?.length ?? 0;
  const vectors = entries.flatMap(({ vector }) => (vector === undefined ? [] : [vector]));
  const ids = entries.map(({ id }) => Buffer.from(id));
  const idBytes = ids.reduce((sum, { length }) => sum + length, 0);
  const occurrences = terms.reduce((sum, term) => sum + term.occurrences.length, 0);
  const numbers = headerNumbers + 3 * entries.length + 3 * terms.length + occurrences;
  const bytes = new Uint8Array(4 * (numbers + dimensions * vectors.length) + idBytes);
  const table = new Uint32Array(bytes.buffer, 0, numbers);
  table.set([packedLayout, entries.length, terms.length, occurrences, dimensions, idBytes]);
  let at = headerNumbers;
  let idEnd = 0;
  for (const [no, { terms: own, vector }] of entries.entries()) {
    idEnd += ids[no]?.length ?? 0;
    table[at + no] = idEnd;
    table[at + entries.length + no] = own.length;
    table[at + 2 * entries.length + no] = vector === undefined ? 0 : 1;
  }
  at += 3 * entries.length;
  let end = 0;
  for (const [no, term] of terms.entries()) {
    table[at + no] = term.high;
    table[at + terms.length + no] = term.low;
    table.set(term.occurrences, at + 3 * terms.length + end);
    end += term.occurrences.length;
    table[at + 2 * terms.length + no] = end;
  }
  const floats = new Float32Array(bytes.buffer, 4 * numbers, dimensions * vectors.length);
  for (const [no, vector] of vectors.entries()) {
    if (vector.length !== dimensions) throw new Error(`a vector has ${vector.length} dimensions, not ${dimensions}`);
    floats.set(vector, no * dimensions);
  }
  bytes.set(Buffer.concat(ids), 4 * numbers + floats.byteLength);
  return bytes;
}

/** The distinct terms, each with its occurrences in the order of the entries. */
function collectTerms(entries: readonly EntryContent[]): readonly PackedTerm[] {
  const terms = new Map<string, PackedTerm>();
  for (const [no, entry] of entries.entries()) {
    const counts = new Map<string, number>();
    for (const term of entry.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const known = terms.get(term);
      if (known !== undefined) known.occurrences.push(packOccurrence(no, count));
      else terms.set(term, { ...hashTerm(term), occurrences: [packOccurrence(no, count)] });
    }
  }
  return [...terms.values()];
}
