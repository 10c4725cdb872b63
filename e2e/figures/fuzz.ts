import { mebibytes, runFuzz } from '../fuzz/run-fuzz.ts';
import { judgedOf } from '../fuzz/tally.ts';
import { verdictOf } from '../fuzz/verdict.ts';
import type { Figure } from '../support/figure.ts';

const seed = 5;
const sizes = { full: { warmUp: 200_000, requests: 1_000_000 }, small: { warmUp: 15_000, requests: 25_000 } } as const;
/**
 * Resident memory at the end, as a multiple of the level after the warm-up. In the small size the heap still grows
 * towards its level.
 */
const growth = { full: 1.1, small: 1.5 } as const;

export const figure: Figure = {
  name: 'fuzz',
  title: 'changed headers, bytes, JSON and HTTP framing against one runtime process, each answer judged',
  run: async (size, say) => {
    const report = await runFuzz({ ...sizes[size], seed, say });
    const { tally, connections, crashed, memory } = report;
    for (const example of tally.examples) say(example);
    if (tally.examples.length > 0) say(`to send one again: node e2e/fuzz/replay.ts ${seed} ROUND`);
    const told = [...tally.told].sort(([, one], [, other]) => other - one);
    say(
      `${told.map(([what, count]) => `${what} ${count}`).join(', ')}; ${tally.unanswered} unanswered after a closed connection`,
    );
    const kinds = Object.entries(tally.judged).map(([kind, count]) => `${kind} ${count}`);
    const resident =
      memory === undefined
        ? 'memory is measured on Linux'
        : `resident memory ${mebibytes(memory.before)} after the warm-up, ${mebibytes(memory.after)} at the end`;
    const line =
      `${judgedOf(tally)} changed requests (${kinds.join(', ')}) on ${connections} connections, ${tally.malformed} of ` +
      `them malformed, seed ${seed}: ${crashed ? 'a crash' : '0 crashes'}, ${tally.outsideContract} answers outside of the ` +
      `contract, ${tally.malformedPassed} malformed answered 200, ${tally.late} late, ${resident}`;
    const problems = verdictOf(report, { requests: sizes[size].requests, growth: growth[size] });
    return { holds: problems.length === 0, line: [line, ...problems].join('; ') };
  },
};
