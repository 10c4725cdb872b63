import { type PatternShape, shapeOf } from '../pattern-shape.ts';
import type { PatternTree } from '../pattern-tree.ts';
import { type ByteProgram, compileProgram, unanchored } from './byte-program.ts';
import { canBuildAhead } from './cover-texts.ts';
import { type Automaton, determinize, MAX_TRANSITIONS, START_CONTEXTS } from './determinize.ts';
import { SEARCH_MEMORY_BYTES, SET_MEMORY_BYTES } from './engine-memory.ts';
import { type ProbePlan, probePlan } from './probe-plan.ts';

/** The two passes that find one match: forward to its end, and back to its begin. */
export type SpanSearch = { readonly forward: Automaton; readonly backward: Automaton };

/**
 * What is known of a pattern's automata. Each part is worked out on first use, in bounded time, and undefined when the
 * automaton is too large.
 */
export type PatternAnalysis = {
  readonly shape: PatternShape;
  /** The automaton of a set that holds only this pattern, when the engine can be made to build it ahead. */
  set(): Automaton | undefined;
  probe(): ProbePlan | undefined;
  /** The automaton of a probe. */
  anchored(): Automaton | undefined;
  search(): SpanSearch | undefined;
  /** Byte ranges of the whole program; Infinity when it is too large to tell. */
  programRanges(): number;
};

/** Prepares the analysis of a pattern. Deterministic: the same pattern has the same analysis everywhere. */
export function analysePattern(tree: PatternTree): PatternAnalysis {
  const shape = shapeOf(tree);
  const program = once(() => compileProgram(tree.node, false));
  const anchored = once(() => {
    const automaton = within(program(), (own) => determinize(own, 'first', START_CONTEXTS, MAX_TRANSITIONS.probe));
    return automaton !== undefined && canBuildAhead(automaton, SEARCH_MEMORY_BYTES) ? automaton : undefined;
  });
  return {
    shape,
    anchored,
    set: once(() => {
      const automaton = within(program(), (own) => determinize(unanchored(own), 'many', ['text']));
      return automaton !== undefined && canBuildAhead(automaton, SET_MEMORY_BYTES / 2) ? automaton : undefined;
    }),
    probe: once(() => {
      const automaton = anchored();
      return automaton === undefined ? undefined : probePlan(automaton, shape);
    }),
    search: once(() => {
      const forward = within(program(), (own) => determinize(unanchored(own), 'first', START_CONTEXTS));
      if (forward === undefined || !canBuildAhead(forward, SEARCH_MEMORY_BYTES)) return undefined;
      const reversed = compileProgram(tree.node, true);
      const backward = within(reversed, (own) => determinize(own, 'longest', START_CONTEXTS));
      return backward === undefined || backward.memoryBytes > SEARCH_MEMORY_BYTES ? undefined : { forward, backward };
    }),
    programRanges: () => program()?.edgeCount ?? Number.POSITIVE_INFINITY,
  };
}

function within(program: ByteProgram | undefined, build: (program: ByteProgram) => Automaton | undefined) {
  return program === undefined ? undefined : build(program);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
