/** The probability that a time of `one` is longer than a time of `other`; 0.5 is chance. */
export function guessFromTimes(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((ms) => ({ ms, isOne: true })), ...other.map((ms) => ({ ms, isOne: false }))];
  all.sort((left, right) => left.ms - right.ms);
  let ranks = 0;
  for (const [at, { isOne }] of all.entries()) if (isOne) ranks += at + 1;
  return (ranks - (one.length * (one.length + 1)) / 2) / (one.length * other.length);
}
