import { expect, test } from 'vitest';
import { readQuotedFact } from './quoted-fact.ts';
import { readForgotten, statedPart } from './read-statement.ts';
import { splitClauses } from './split-clauses.ts';

const large = 100 * 1_024;
const parts = 8;

/** Microseconds of the processor. */
function processorTime(run: () => void): number {
  const before = process.cpuUsage();
  run();
  return process.cpuUsage(before).user;
}

const said = new Date('2026-05-04T10:00:00Z');
const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ['splitClauses', splitClauses],
  ['statedPart', statedPart],
  ['readForgotten', readForgotten],
  ['readQuotedFact', (text) => readQuotedFact(text, said, { text: 'I am', quote: 'I am', isRequest: false })],
];

/** Units that a text repeats, and its end, which decides about the language. */
const repeated: readonly (readonly [unit: string, end: string])[] = [
  ...([' ', '.', ' .', 'lol ', ' if that', ', if you', ':)', ')'] as const).map((unit) => [unit, 'x'] as const),
  ...([' ', 'лол ', ' если это', 'ахах', 'ну ', ')'] as const).map((unit) => [unit, 'я'] as const),
];

test.each(readers)('%s reads a text of 100 KiB in time in proportion to its length', (_name, read) => {
  for (const [unit, end] of repeated) {
    const textOf = (length: number): string => `I am${unit.repeat(Math.ceil(length / unit.length))}${end}`;
    const [whole, part] = [textOf(large), textOf(large / parts)];
    const isInProportion = (): boolean => {
      const taken = processorTime(() => read(whole));
      const inParts = processorTime(() => {
        for (let at = 0; at < parts; at += 1) read(part);
      });
      // If the time grew with the square of the length, it would be 8 times as long. For a few milliseconds the clock
      // is too coarse.
      return taken <= 4 * Math.max(inParts, 10_000);
    };
    // Another process may disturb one measurement, but not all of them.
    expect([unit, [1, 2, 3].some(isInProportion)]).toEqual([unit, true]);
  }
});
