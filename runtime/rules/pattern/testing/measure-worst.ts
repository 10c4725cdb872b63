import { checkedText } from '../../checked-text.ts';
import { groupPatterns } from '../cost/group-patterns.ts';
import { setAutomaton } from '../cost/pattern-cost.ts';
import { workedOut } from '../cost/pattern-figures.ts';
import { compileGroup } from '../search/compile-group.ts';
import { ADMITTED_PATTERNS } from '../testdata/admitted-patterns.ts';
import { longWalk, seeded } from './long-walk.ts';
import { prepare } from './prepare-pattern.ts';

// Measures the admitted patterns on texts that are made to be slow: sh hack/run
// runtime/rules/pattern/testing/measure-worst.ts
const SIZE = 32_768;
const RESTARTS = [0, 3, 6, 8, 12, 25, 60];

const random = seeded(7);
const patterns = ADMITTED_PATTERNS.map(({ pattern, caseSensitive }) => prepare(pattern, caseSensitive));
const { groups } = groupPatterns(
  patterns.map(({ analysis }) => analysis),
  { maxBytes: SIZE, budgetMs: 5 },
  workedOut,
);

/** The fastest of three runs, in milliseconds, so that other load on the machine counts little. */
function fastestMs(work: () => void): number {
  const runs = [1, 2, 3].map(() => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...runs);
}

for (const { members, costMs } of groups) {
  const own = members.flatMap((member) => patterns[member] ?? []);
  const group = compileGroup(own);
  const [only] = own;
  const probes = own.length === 1 && only !== undefined && only.analysis.firing.figures().plan === 'probe';
  const automaton = probes
    ? only.analysis.firing.probe()?.automaton
    : setAutomaton(own.map(({ analysis }) => analysis));
  if ('reason' in group || automaton === undefined) throw new Error('a group of the pack is refused');
  const walks = RESTARTS.map((restart) => longWalk(automaton, SIZE, restart, random));
  const slowest = Math.max(...walks.map((text) => fastestMs(() => group.firing(checkedText(text)))));
  const names = members.map((member) => ADMITTED_PATTERNS[member]?.name).join(', ');
  const figures = `cost ${costMs.toFixed(2)}, took ${slowest.toFixed(2)} ms`;
  process.stdout.write(`${probes ? 'probe' : 'set  '} ${figures}: ${names}\n`);
}
