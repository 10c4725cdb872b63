import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Largest ratio to its baseline that each case may have, by its key. */
type Ranges = Readonly<Record<string, number>>;

export const rangesFile = new URL('ranges.json', import.meta.url);

export function readRanges(): Ranges {
  return z.record(z.string(), z.number()).parse(JSON.parse(readFileSync(rangesFile, 'utf8')));
}

/** The measured ratios with the room that another run of the same code may take. */
export function rangesOf(ratios: ReadonlyMap<string, number>): Ranges {
  return Object.fromEntries([...ratios].map(([key, ratio]) => [key, Number((ratio * 1.2).toFixed(2))]));
}

/** One sentence for each case that is over its range or has none. */
export function outOfRange(ratios: ReadonlyMap<string, number>, ranges: Ranges): readonly string[] {
  return [...ratios].flatMap(([key, ratio]) => {
    const range = ranges[key];
    if (range === undefined) return [`${key}: no range is committed; renew them with --write`];
    return ratio <= range ? [] : [`${key}: ${ratio.toFixed(2)} is over ${range}`];
  });
}
