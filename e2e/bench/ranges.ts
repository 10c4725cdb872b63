import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Upper bound of each case's ratio to its baseline, by key of the case. */
type Ranges = Readonly<Record<string, number>>;

export const rangesFile = new URL('ranges.json', import.meta.url);

export function readRanges(): Ranges {
  return z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(rangesFile, 'utf8')));
}

/** Upper bounds from measured ratios, with a margin for the variation between runs. */
export function rangesOf(ratios: ReadonlyMap<string, number>): Ranges {
  return Object.fromEntries([...ratios].map(([key, ratio]) => [key, Number((ratio * 1.2).toFixed(2))]));
}

/** A message for each benchmark case whose ratio exceeds its bound or that has no bound. */
export function outOfRange(ratios: ReadonlyMap<string, number>, ranges: Ranges): readonly string[] {
  return [...ratios].flatMap(([key, ratio]) => {
    const range = ranges[key];
    if (range === undefined) return [`${key}: no range is committed; renew them with --write`];
    return ratio <= range ? [] : [`${key}: ${ratio.toFixed(2)} is over ${range}`];
  });
}
