import { type Automaton, START_CONTEXTS, type StartContext } from './determinize.ts';

/** An automaton whose covering texts could be longer than this together, in bytes, is not built ahead. */
export const MAX_COVER_BYTES = 4_000_000;

/** Whether the engine can be made to build the automaton ahead: its texts and the memory for it stay within bounds. */
export function canBuildAhead(automaton: Automaton, memoryBytes: number): boolean {
  if (automaton.memoryBytes > memoryBytes) return false;
  const paths = shortestPaths(automaton);
  const depths = new Int32Array(automaton.states);
  let total = 0;
  for (const state of paths.order) {
    const above = paths.from[state] ?? -1;
    depths[state] = above < 0 ? 0 : (depths[above] ?? 0) + 1;
    total += automaton.classCount * ((depths[state] ?? 0) + 2);
  }
  return total <= MAX_COVER_BYTES;
}

/**
 * Calls `search` with texts, and places in them to begin at, that together lead through every transition of an
 * automaton: the engine then builds all its states, and no later text has to pay for that. A text is only valid during
 * the call.
 */
export function coverTransitions(automaton: Automaton, search: (text: Buffer, from: number) => void): void {
  const { classCount, next, states } = automaton;
  const paths = shortestPaths(automaton);
  const samples = sampleBytes(automaton);
  const taken = new Uint8Array(states * classCount);
  for (const state of paths.order) {
    const { context, steps } = pathTo(state, paths);
    const before = BYTES_BEFORE[context];
    const text = Buffer.from([...before, ...steps.map((step) => samples[step] ?? 0), 0]);
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      if (taken[state * classCount + symbol] === 1) continue;
      text[text.length - 1] = samples[symbol] ?? 0;
      const further: number[] = [];
      let at = next[state * classCount + symbol] ?? -1;
      for (let step = freshSymbol(taken, at, classCount); step >= 0; step = freshSymbol(taken, at, classCount)) {
        taken[at * classCount + step] = 1;
        further.push(samples[step] ?? 0);
        at = next[at * classCount + step] ?? -1;
      }
      search(further.length === 0 ? text : Buffer.concat([text, Buffer.from(further)]), before.length);
    }
  }
}

/** What stands before a search that begins in a context. */
const BYTES_BEFORE: Readonly<Record<StartContext, readonly number[]>> = {
  text: [],
  line: [0x0a],
  word: [0x61],
  other: [0x20],
};

function freshSymbol(taken: Uint8Array, state: number, classCount: number): number {
  if (state < 0) return -1;
  for (let symbol = 0; symbol < classCount; symbol += 1) if (taken[state * classCount + symbol] === 0) return symbol;
  return -1;
}

/** By state: the state before it on a shortest path, or -1 - n for a start in context number n; -9 when unreached. */
type Paths = { readonly order: readonly number[]; readonly from: Int32Array; readonly by: Int32Array };

const UNREACHED = -9;

function shortestPaths({ starts, states, classCount, next }: Automaton): Paths {
  const from = new Int32Array(states).fill(UNREACHED);
  const by = new Int32Array(states);
  const order: number[] = [];
  for (const [number, context] of START_CONTEXTS.entries()) {
    const start = starts[context];
    if (start < 0 || from[start] !== UNREACHED) continue;
    from[start] = -1 - number;
    order.push(start);
  }
  for (let at = 0; at < order.length; at += 1) {
    const state = order[at] ?? 0;
    for (let symbol = 0; symbol < classCount; symbol += 1) {
      const target = next[state * classCount + symbol] ?? -1;
      if (target < 0 || from[target] !== UNREACHED) continue;
      from[target] = state;
      by[target] = symbol;
      order.push(target);
    }
  }
  return { order, from, by };
}

function pathTo(state: number, { from, by }: Paths): { context: StartContext; steps: number[] } {
  const steps: number[] = [];
  let at = state;
  for (; (from[at] ?? -1) >= 0; at = from[at] ?? -1) steps.push(by[at] ?? 0);
  return { context: START_CONTEXTS[-1 - (from[at] ?? -1)] ?? 'text', steps: steps.reverse() };
}

function sampleBytes({ classOf, classCount }: Automaton): Uint8Array {
  const samples = new Uint8Array(classCount);
  for (let byte = 255; byte >= 0; byte -= 1) samples[classOf[byte] ?? 0] = byte;
  return samples;
}
