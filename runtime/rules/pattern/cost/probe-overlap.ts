import { componentsOf } from './components.ts';
import { type Automaton, START_CONTEXTS } from './determinize.ts';
import type { ProbeFigures } from './pattern-figures.ts';
import { agreeing, CONTEXT_AFTER, type ProbeState } from './probe-places.ts';

/** The number of bytes of two places that are compared to find out whether both can be probed in one text. */
const SHARED_DEPTH = 6;

/**
 * The maximum number of probes that read one byte of a text. A probe runs the automaton from one place at which a match
 * may begin. While it runs, a second probe may begin where the state of the first one allows a place; the next probe
 * after that begins at least `distance` bytes later, and those bytes agree with the place of the second probe. Reading
 * them is called a move of the first automaton. No place inside of a match is probed, so that the first probe has no
 * match after a move. The number of probes is therefore the length of the longest chain of moves that reaches no match,
 * and Infinity when moves form a cycle. Probes that began less than SHARED_DEPTH bytes ago are added, because the first
 * probe need not agree with them yet.
 */
export function overlapOf(automaton: Automaton, depth: number, distance: number): number {
  if (distance === Number.POSITIVE_INFINITY) return 1;
  const { states, classCount, next, matched } = automaton;
  const targets = Array.from({ length: states }, (_, state) =>
    Array.from(next.subarray(state * classCount, (state + 1) * classCount)).filter(
      (target) => target >= 0 && matched[target] !== 1,
    ),
  );
  const components = componentsOf(targets);
  const moves = movesOf(automaton, Math.min(depth, SHARED_DEPTH), Math.min(depth, distance));
  const most = new Float64Array(components.count);
  for (const [component, members] of components.members.entries()) {
    let own = 0;
    for (const state of members) {
      for (const target of targets[state] ?? []) own = Math.max(own, most[components.of[target] ?? 0] ?? 0);
      for (const target of moves[state] ?? []) {
        const reached = components.of[target] ?? 0;
        if (reached === component) return Number.POSITIVE_INFINITY;
        own = Math.max(own, 1 + (most[reached] ?? 0));
      }
    }
    most[component] = own;
  }
  return 1 + most.reduce((a, b) => Math.max(a, b), 0) + Math.ceil(SHARED_DEPTH / distance);
}

/**
 * The maximum number of probes that read one byte of a text if places inside of rejected matches are probed, too: these
 * places are added to the chain that begins after such a match. No probe reads more than one byte after the longest
 * match.
 * @param longest the maximum number of bytes of a match; `longestRejected`: of a rejected match
 */
export function overlapWithRejected(
  { distance, overlap }: Pick<ProbeFigures, 'distance' | 'overlap'>,
  { longest, longestRejected }: { readonly longest: number; readonly longestRejected: number },
): number {
  if (distance === Number.POSITIVE_INFINITY) return 1;
  const placesIn = (bytes: number): number => Math.ceil(bytes / distance) + 1;
  return Math.min(overlap + placesIn(longestRejected), placesIn(longest + 1));
}

/**
 * For each state, the states in which a probe can be after the first `length` bytes of another place. Only states that
 * agree with a place for `depth` bytes have an entry.
 */
function movesOf(automaton: Automaton, depth: number, length: number): readonly (readonly number[])[] {
  const contexts = reachableContexts(automaton);
  return Array.from({ length: automaton.states }, (_, state) => {
    const places: ProbeState[] = [];
    for (const [context, marks] of contexts.entries()) if (marks[state] === 1) places.push({ state, context });
    if (agreeing(automaton, places, depth, 'unmatched')?.size === 0) return [];
    const reached = agreeing(automaton, places, length, 'unmatched');
    return reached === undefined ? [state] : [...reached];
  });
}

/** For each context and state, 1 when a byte that enters the state gives the next place this context. */
function reachableContexts({ next, classOf, classCount, states }: Automaton): readonly Uint8Array[] {
  const marks = START_CONTEXTS.map(() => new Uint8Array(states));
  const contextsOf = Array.from({ length: classCount }, () => new Set<number>());
  for (let byte = 0; byte < 256; byte += 1) contextsOf[classOf[byte] ?? 0]?.add(CONTEXT_AFTER[byte] ?? 0);
  for (let edge = 0; edge < next.length; edge += 1) {
    const target = next[edge] ?? -1;
    if (target < 0) continue;
    for (const context of contextsOf[edge % classCount] ?? []) {
      const mark = marks[context];
      if (mark !== undefined) mark[target] = 1;
    }
  }
  return marks;
}
