import { runFuzz } from '../fuzz/run-fuzz.ts';
import { judgedOf } from '../fuzz/tally.ts';
import type { Figure } from '../support/figure.ts';

const seed = 5;
const sizes = { full: { warmUp: 100_000, requests: 1_000_000 }, small: { warmUp: 4_000, requests: 16_000 } } as const;
/** Resident memory at the end, as a multiple of the level after the warm-up. In the small size the heap still settles. */
const growth = { full: 1.1, small: 1.5 } as const;

const mebibytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(0)} MiB`;

export const figure: Figure = {
  name: 'fuzz',
  title: 'changed headers, bytes, JSON and HTTP framing against one runtime process, each answer judged',
  run: async (size, say) => {
    const { tally, connections, crashed, memory } = await runFuzz({ ...sizes[size], seed, say });
    for (const example of tally.examples) say(example);
    const told = [...tally.told].sort(([, one], [, other]) => other - one);
    say(told.map(([what, count]) => `${what} ${count}`).join(', '));
    const kinds = Object.entries(tally.judged).map(([kind, count]) => `${kind} ${count}`);
    const grown = memory === undefined ? 1 : memory.after / memory.before;
    const resident =
      memory === undefined
        ? 'memory is measured on Linux'
        : `resident memory ${mebibytes(memory.before)} after the warm-up, ${mebibytes(memory.after)} at the end`;
    const line =
      `${judgedOf(tally)} changed requests (${kinds.join(', ')}) on ${connections} connections, ${tally.malformed} of ` +
      `them malformed, seed ${seed}: ${crashed ? 'a crash' : '0 crashes'}, ${tally.outsideContract} answers outside of the ` +
      `contract, ${tally.malformedPassed} malformed answered 200, ${resident}`;
    const clean = !crashed && tally.outsideContract === 0 && tally.malformedPassed === 0;
    return { holds: clean && grown <= growth[size], line };
  },
};
