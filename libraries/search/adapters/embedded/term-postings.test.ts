import { expect, test } from 'vitest';
import { hashTerm } from '../../packed/hash-term.ts';
import { packOccurrence } from '../../packed/occurrence.ts';
import { TermPostings } from './term-postings.ts';

/** Numbers below a bound that follow from a seed. */
function numbersFrom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

test('occurrences of many growing terms are found as in a map of lists', () => {
  const postings = new TermPostings();
  const expected = new Map<string, number[]>();
  const draw = numbersFrom(7);
  for (let row = 0; row < 4_000; row += 1) {
    // Low numbers are drawn more often, so that some lists become long while most stay short.
    const terms = new Set(Array.from({ length: 12 }, () => `t${draw(1 + draw(3_000))}`));
    for (const term of terms) {
      const occurrences = 1 + draw(3);
      const { high, low } = hashTerm(term);
      postings.append(high, low, Uint32Array.of(packOccurrence(0, occurrences)), row);
      expected.set(term, [...(expected.get(term) ?? []), packOccurrence(row, occurrences)]);
    }
  }
  expect(expected.size).toBeGreaterThan(2_000);
  for (const [term, occurrences] of expected) expect([...postings.find(hashTerm(term))], term).toEqual(occurrences);
  expect(postings.find(hashTerm('absent'))).toHaveLength(0);
});

test('a list longer than a shared page keeps its order', () => {
  const postings = new TermPostings();
  const { high, low } = hashTerm('год');
  const block = Uint32Array.from({ length: 60_000 }, (_, at) => packOccurrence(at, 1));
  const rounds = 40;
  for (let round = 0; round < rounds; round += 1) {
    postings.append(high, low, block, round * block.length);
    postings.append(high, low + 1, Uint32Array.of(packOccurrence(0, 2)), round);
  }
  const found = postings.find({ high, low });
  expect(found).toHaveLength(rounds * block.length);
  expect(found.every((packed, at) => packed === packOccurrence(at, 1))).toBe(true);
  expect(postings.find({ high, low: low + 1 })).toHaveLength(rounds);
});

test('a partition of few terms takes few kilobytes', () => {
  const postings = new TermPostings();
  const { high, low } = hashTerm('год');
  postings.append(high, low, Uint32Array.of(packOccurrence(0, 1)), 0);
  expect(postings.bytes).toBeLessThan(8_192);
});
