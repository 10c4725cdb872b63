import { compareRandomFlow } from '#flow/testing/compare-flow';
import { tryMutatedFlow } from '#flow/testing/mutate-flow';
import type { Figure } from '../support/figure.ts';
import { randomFrom } from '../support/random-from.ts';

const sizes = { small: { flows: 250, mutants: 150 }, full: { flows: 5_000, mutants: 2_000 } } as const;
/**
 * Bounds of the share of changed flows that are accepted: with refusals only, or successes only, the comparison proves
 * nothing.
 */
const accepts = { least: 0.3, most: 0.7 } as const;
/** Minimum number of different outcomes of random flows; a single kind of error would prove little. */
const leastEnds = 10;

export const figure: Figure = {
  name: 'flow-agreement',
  title:
    'random valid flows by the engine and by a reference interpreter: the same results, errors, states and ends of nodes; changed flows: each ends typed or is refused with its place',
  async run(size, say) {
    const { flows, mutants } = sizes[size];
    const ends = new Map<string, number>();
    let [nodes, differences, faults, accepted] = [0, 0, 0, 0];
    for (let seed = 1; seed <= flows; seed += 1) {
      const found = await compareRandomFlow(seed, randomFrom(seed));
      ends.set(found.end, (ends.get(found.end) ?? 0) + 1);
      nodes += found.nodes;
      if (found.difference === undefined) continue;
      differences += 1;
      if (differences <= 10) say(found.difference.slice(0, 400));
    }
    say([...ends].map(([end, count]) => `${end} ${count}`).join(', '));
    const random = randomFrom(16);
    for (let at = 0; at < mutants; at += 1) {
      const end = await tryMutatedFlow(random);
      if (end.accepted) accepted += 1;
      if (end.fault === undefined) continue;
      faults += 1;
      if (faults <= 10) say(end.fault.slice(0, 400));
    }
    const share = accepted / mutants;
    const isSpread = share >= accepts.least && share <= accepts.most && ends.size >= leastEnds;
    return {
      holds: differences === 0 && faults === 0 && isSpread,
      line: `${flows} flows with ${nodes} runs of nodes and ${ends.size} different ends: ${differences} differences; ${mutants} changed flows, ${Math.round(share * 100)} % accepted: ${faults} faults`,
    };
  },
};
