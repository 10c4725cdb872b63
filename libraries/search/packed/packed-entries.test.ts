import { describe, expect, test } from 'vitest';
import { hashTerm } from './hash-term.ts';
import { occurrencesOf, rowOf } from './occurrence.ts';
import { mostPacked, packEntries } from './pack-entries.ts';
import { type PackedRows, readPacked } from './read-packed.ts';

const entries = [
  { id: 'a', terms: ['отпуск', 'год', 'отпуск'], vector: Float32Array.of(0.5, -0.5) },
  { id: 'другой', terms: ['год'] },
  { id: '', terms: [], vector: Float32Array.of(1, 0) },
];
const read = (bytes: Uint8Array): PackedRows => {
  const rows = readPacked(bytes);
  if (rows === undefined) throw new Error('the block was not read');
  return rows;
};
/** For each entry, how often each hash occurs in it. */
const counted = ({ ids, high, low, ends, occurrences }: PackedRows) => {
  const counts = ids.map(() => ({}) as Record<string, number>);
  for (const [no, end] of ends.entries()) {
    for (const packed of occurrences.subarray(ends[no - 1] ?? 0, end)) {
      (counts[rowOf(packed)] as Record<string, number>)[`${high[no]}/${low[no]}`] = occurrencesOf(packed);
    }
  }
  return counts;
};
const key = (term: string) => `${hashTerm(term).high}/${hashTerm(term).low}`;

describe('packed entries', () => {
  test('a block returns ids, numbers of terms, occurrences and vectors of its entries', () => {
    const rows = read(packEntries(entries));
    expect(rows.ids).toEqual(['a', 'другой', '']);
    expect([...rows.lengths]).toEqual([3, 1, 0]);
    expect([...rows.hasVector]).toEqual([1, 0, 1]);
    expect(rows.dimensions).toBe(2);
    expect([...rows.vectors]).toEqual([0.5, -0.5, 1, 0]);
    expect(counted(rows)).toEqual([{ [key('отпуск')]: 2, [key('год')]: 1 }, { [key('год')]: 1 }, {}]);
  });

  test('a block is read at any offset of its buffer', () => {
    const packed = packEntries(entries);
    for (const offset of [0, 1, 2, 3, 4]) {
      const shifted = new Uint8Array(offset + packed.length).subarray(offset);
      shifted.set(packed);
      expect(read(shifted), String(offset)).toEqual(read(packed));
    }
  });

  test('a block without entries is read', () => {
    expect(read(packEntries([])).ids).toEqual([]);
  });

  test('a truncated block, an extended block and a block of another format are not read', () => {
    const packed = packEntries(entries);
    for (let length = 0; length < packed.length; length += 1) {
      expect(readPacked(packed.subarray(0, length)), String(length)).toBeUndefined();
    }
    expect(readPacked(Buffer.concat([packed, Buffer.alloc(4)]))).toBeUndefined();
    const foreign = Uint8Array.from(packed);
    foreign[0] = (foreign[0] as number) ^ 1;
    expect(readPacked(foreign)).toBeUndefined();
  });

  test('a term that occurs more than 255 times in an entry counts 255 times', () => {
    const rows = read(packEntries([{ id: 'a', terms: new Array<string>(300).fill('год') }]));
    expect(counted(rows)).toEqual([{ [key('год')]: 255 }]);
    expect([...rows.lengths]).toEqual([300]);
  });

  test('a block contains as many entries as fit, and one more entry is refused', () => {
    const many = Array.from({ length: mostPacked }, (_, at) => ({ id: String(at), terms: [] }));
    expect(read(packEntries(many)).ids).toHaveLength(mostPacked);
    expect(() => packEntries([...many, { id: 'x', terms: [] }])).toThrow('at most 65535');
  });

  test('vectors of different lengths are refused', () => {
    const vector = Float32Array.of(1);
    expect(() => packEntries([...entries, { id: 'b', terms: [], vector }])).toThrow('1 dimensions, not 2');
  });
});

describe('hashes of terms', () => {
  test('hashes of terms have the values of the stored format', () => {
    expect(hashTerm('')).toMatchInlineSnapshot(`
      {
        "high": 3954623016,
        "low": 1020716019,
      }
    `);
    expect(hashTerm('отпуск')).toMatchInlineSnapshot(`
      {
        "high": 4104091511,
        "low": 2650098924,
      }
    `);
  });

  test('no two of 300,000 terms have the same hash', () => {
    const terms = Array.from({ length: 100_000 }, (_, at) => [`слово${at}`, String(at), `w${at}w`]).flat();
    expect(new Set(terms.map(key)).size).toBe(terms.length);
  });
});
