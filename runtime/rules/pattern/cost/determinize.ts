import { byteClasses } from './byte-classes.ts';
import type { ByteProgram } from './byte-program.ts';
import { FLAG_MATCH, type State, ThreadRunner } from './thread-runner.ts';

/**
 * How RE2 builds the states of a search (dfa.cc): `many` for a set (unordered, all matches), `first` for leftmost-first
 * (ordered, truncated at a match), `longest` for the backward pass to the start of a match (unordered).
 */
export type SearchKind = 'many' | 'first' | 'longest';

/** The context before the position at which a search begins. */
export type StartContext = 'text' | 'line' | 'word' | 'other';
export const START_CONTEXTS: readonly StartContext[] = ['text', 'line', 'word', 'other'];

/** The deterministic automaton that the engine would build when driven through every transition. */
export type Automaton = {
  readonly classOf: Uint8Array;
  readonly classCount: number;
  readonly states: number;
  /** Transition table: `next[state * classCount + class]`; -1 when no match is possible. */
  readonly next: Int32Array;
  /** For each state, 1 if a match ended one byte earlier. */
  readonly matched: Uint8Array;
  /** For each state, the number of instructions that the engine examines to build one of its transitions. */
  readonly work: Int32Array;
  /** Memory of the engine for all states, in bytes (dfa.cc, CachedState). */
  readonly memoryBytes: number;
  /** For each start context, the first state; -1 if no match can begin there. */
  readonly starts: Readonly<Record<StartContext, number>>;
};

/**
 * Limits of the analysis of one automaton; above them its cost counts as unbounded. They are derived from 50 ms for one
 * pattern and a few MiB for one automaton. The automaton of a probe grows with its gaps, the automaton of a set with
 * all overlaps of its gaps.
 */
export const MAX_TRANSITIONS: Readonly<Record<SearchKind | 'probe', number>> = {
  many: 32_000,
  first: 64_000,
  longest: 64_000,
  probe: 250_000,
};
const MAX_VISITS = 2_400_000;

/**
 * The engine's memory for one state: header and hash entry, one pointer per byte class and end of text, one number per
 * instruction (at most `work`).
 */
export function memoryOf(work: Int32Array, classCount: number): number {
  return work.reduce((sum, own) => sum + 42 + 8 * (classCount + 1) + 4 * own, 0);
}

/** Builds all states that the program can reach from the given contexts, or undefined if they exceed the limits. */
export function determinize(
  program: ByteProgram,
  kind: SearchKind,
  contexts: readonly StartContext[],
  maxTransitions: number = MAX_TRANSITIONS[kind],
): Automaton | undefined {
  const { classOf, count, samples } = byteClasses(program);
  const runner = new ThreadRunner(program, kind, samples);
  const numbers = new Map<string, number>();
  const states: State[] = [];
  const rows: Int32Array[] = [];
  const numberOf = (state: State): number => {
    if (state.ids.length === 0 && state.flags === 0) return -1;
    const key = keyOf(state);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, states.length);
    states.push(state);
    return states.length - 1;
  };
  const starts = { text: -1, line: -1, word: -1, other: -1 };
  for (const context of contexts) starts[context] = numberOf(runner.start(context));
  for (let at = 0; at < states.length; at += 1) {
    const state = states[at];
    if (state === undefined || states.length * count > maxTransitions || runner.visits > MAX_VISITS) return undefined;
    rows.push(Int32Array.from(runner.steps(state), numberOf));
  }
  const work = Int32Array.from(states, (state) => runner.work(state));
  const next = new Int32Array(states.length * count);
  rows.forEach((row, at) => {
    next.set(row, at * count);
  });
  return {
    classOf,
    classCount: count,
    states: states.length,
    next,
    matched: Uint8Array.from(states, ({ flags }) => (flags & FLAG_MATCH ? 1 : 0)),
    work,
    memoryBytes: memoryOf(work, count),
    starts,
  };
}

/** Encodes a state as a short string, because JavaScript compares strings fastest. */
function keyOf({ ids, flags }: State): string {
  let key = String.fromCharCode(flags);
  if (ids.length < 4096) return key + String.fromCharCode(...ids);
  for (const id of ids) key += String.fromCharCode(id);
  return key;
}
