import { type Automaton, START_CONTEXTS } from './determinize.ts';
import { CONTEXT_AFTER, canAgree } from './probe-places.ts';

/** So many bytes of a second place are compared with a first one to see whether both can be probed in one text. */
const SHARED_DEPTH = 8;

/**
 * How many probes can read one byte. While a probe reads, others begin only where it is in a shared state, one that
 * allows another place; so all of them but the first begin within the longest way from one shared state to another, and
 * `characterDistance` characters apart.
 */
export function overlapOf(automaton: Automaton, depth: number, characterDistance: number): number {
  const shared = sharedStates(automaton, Math.min(depth, SHARED_DEPTH));
  if (!shared.includes(1)) return 1;
  const span = longestSpan(automaton, shared);
  return span === Number.POSITIVE_INFINITY ? span : Math.floor(span / characterDistance) + 2;
}

/** By state: 1 when another place to probe can begin while a probe is in it. */
function sharedStates(automaton: Automaton, depth: number): Uint8Array {
  const contexts = reachableContexts(automaton);
  return Uint8Array.from({ length: automaton.states }, (_, state) => {
    const places = [...contexts.entries()].flatMap(([context, marks]) =>
      marks[state] === 1 ? [{ state, context }] : [],
    );
    return canAgree(automaton, places, depth) ? 1 : 0;
  });
}

/** By context and state: 1 when the state can be entered by a byte that gives the next place this context. */
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

/** The longest way, in characters, from a shared state to a shared state; Infinity when there is a loop on the way. */
function longestSpan(automaton: Automaton, shared: Uint8Array): number {
  const { next, classCount } = automaton;
  const weights = characterWeights(automaton);
  const onTheWay = between(automaton, shared);
  const longest = new Float64Array(shared.length).fill(-1);
  const open = new Uint8Array(shared.length);
  const stack: number[] = [];
  for (let first = 0; first < shared.length; first += 1) {
    if (shared[first] === 1) stack.push(first);
    while (stack.length > 0) {
      const state = stack.at(-1) ?? 0;
      if ((longest[state] ?? -1) >= 0) {
        stack.pop();
        continue;
      }
      const waitingBefore = stack.length;
      let most = 0;
      for (let symbol = 0; symbol < classCount; symbol += 1) {
        const target = next[state * classCount + symbol] ?? -1;
        if (target < 0 || onTheWay[target] !== 1) continue;
        const known = longest[target] ?? -1;
        if (known >= 0) most = Math.max(most, known + (weights[symbol] ?? 0));
        else if (open[target] === 1 || target === state) return Number.POSITIVE_INFINITY;
        else stack.push(target);
      }
      open[state] = 1;
      if (stack.length > waitingBefore) continue;
      longest[state] = most;
      open[state] = 0;
      stack.pop();
    }
  }
  return longest.reduce((most, own, state) => (shared[state] === 1 ? Math.max(most, own) : most), 0);
}

/** By class: 0 when it holds nothing but continuation bytes, else 1. */
function characterWeights({ classOf, classCount }: Automaton): Uint8Array {
  const weights = new Uint8Array(classCount);
  for (let byte = 0; byte < 256; byte += 1) if (byte < 0x80 || byte >= 0xc0) weights[classOf[byte] ?? 0] = 1;
  return weights;
}

/** By state: 1 when it lies on a way from a shared state to a shared state. */
function between({ next, classCount, states }: Automaton, shared: Uint8Array): Uint8Array {
  const into: number[][] = Array.from({ length: states }, () => []);
  const outOf: number[][] = Array.from({ length: states }, () => []);
  for (let state = 0; state < states; state += 1) {
    const targets = new Set(next.subarray(state * classCount, (state + 1) * classCount));
    for (const target of targets) {
      if (target < 0) continue;
      outOf[state]?.push(target);
      into[target]?.push(state);
    }
  }
  const after = closure(shared, outOf);
  const before = closure(shared, into);
  return after.map((mark, state) => mark & (before[state] ?? 0));
}

function closure(from: Uint8Array, edges: readonly (readonly number[])[]): Uint8Array {
  const marks = Uint8Array.from(from);
  const queue = [...from.keys()].filter((state) => from[state] === 1);
  for (let state = queue.pop(); state !== undefined; state = queue.pop()) {
    for (const target of edges[state] ?? []) {
      if (marks[target] === 1) continue;
      marks[target] = 1;
      queue.push(target);
    }
  }
  return marks;
}
