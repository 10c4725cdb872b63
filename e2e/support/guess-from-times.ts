/** Largest distance of `guessFromTimes` from 0.5, in 99 of 100 measurements of two equal distributions (Mann and Whitney). */
export function chanceBand(count: number): number {
  return 2.576 * Math.sqrt((2 * count + 1) / (12 * count * count));
}

/** The probability that a time of `one` is longer than a time of `other`; 0.5 is chance. */
export function guessFromTimes(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((ms) => ({ ms, isOne: true })), ...other.map((ms) => ({ ms, isOne: false }))];
  all.sort((left, right) => left.ms - right.ms);
  let ranks = 0;
  for (const [at, { isOne }] of all.entries()) if (isOne) ranks += at + 1;
  return (ranks - (one.length * (one.length + 1)) / 2) / (one.length * other.length);
}
