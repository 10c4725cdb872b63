import { InvalidArgumentError } from 'commander';

/** Parses a score. */
export function readScore(text: string): number {
  const score = /^\d(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (score >= 0 && score <= 1) return score;
  throw new InvalidArgumentError('It must be a number from 0 to 1.');
}
