import { type PatternShape, shapeOf } from '../syntax/pattern-shape.ts';
import type { PatternNode, PatternTree } from '../syntax/pattern-tree.ts';
import { trimForFiring } from '../syntax/trim-for-firing.ts';
import { compileProgram, unanchored } from './byte-program.ts';
import { canBuildAhead } from './cover-transitions.ts';
import { type Automaton, determinize, MAX_TRANSITIONS, START_CONTEXTS } from './determinize.ts';
import { SEARCH_MEMORY_BYTES, SET_MEMORY_BYTES } from './engine-memory.ts';
import { type ProbePlan, probePlan } from './probe-plan.ts';

/** The two automata with which the engine finds one match: forward to its end, then backward to its begin. */
type SpanSearch = { readonly forward: Automaton; readonly backward: Automaton };

/**
 * The analysis of a pattern's automata. Each part is worked out on first use, in bounded time, and undefined when the
 * automaton is too large to be built ahead.
 */
export type PatternAnalysis = {
  readonly shape: PatternShape;
  /** The pattern trimmed for the question whether it matches somewhere (trimForFiring). */
  readonly firing: {
    readonly node: PatternNode;
    /** The automaton of a set that contains only this pattern. */
    set(): Automaton | undefined;
    probe(): ProbePlan | undefined;
    /** Number of byte ranges in the whole program; Infinity when the program is too large to analyse. */
    programRanges(): number;
  };
  /** The unchanged pattern, whose matches are listed. */
  readonly listing: { search(): SpanSearch | undefined; probe(): ProbePlan | undefined };
};

/** Prepares the analysis of a pattern. Deterministic: the same pattern has the same analysis everywhere. */
export function analysePattern(tree: PatternTree): PatternAnalysis {
  const shape = shapeOf(tree.node);
  const node = trimForFiring(tree.node);
  return {
    shape,
    firing: {
      node,
      set: once(() => setAutomatonOf(node)),
      probe: once(() => probePlanOf(node, shapeOf(node))),
      programRanges: once(() => compileProgram(node, false)?.edgeCount ?? Number.POSITIVE_INFINITY),
    },
    listing: { search: once(() => spanSearchOf(tree.node)), probe: once(() => probePlanOf(tree.node, shape)) },
  };
}

function setAutomatonOf(node: PatternNode): Automaton | undefined {
  const program = compileProgram(node, false);
  const automaton = program && determinize(unanchored(program), 'many', ['text']);
  return automaton && canBuildAhead(automaton, SET_MEMORY_BYTES / 2) ? automaton : undefined;
}

function probePlanOf(node: PatternNode, shape: PatternShape): ProbePlan | undefined {
  if (shape.canMatchEmpty) return undefined;
  const program = compileProgram(node, false);
  const automaton = program && determinize(program, 'first', START_CONTEXTS, MAX_TRANSITIONS.probe);
  return automaton && canBuildAhead(automaton, SEARCH_MEMORY_BYTES) ? probePlan(automaton, shape) : undefined;
}

function spanSearchOf(node: PatternNode): SpanSearch | undefined {
  const program = compileProgram(node, false);
  const forward = program && determinize(unanchored(program), 'first', START_CONTEXTS);
  if (!forward || !canBuildAhead(forward, SEARCH_MEMORY_BYTES)) return undefined;
  const reversed = compileProgram(node, true);
  const backward = reversed && determinize(reversed, 'longest', START_CONTEXTS);
  return backward && backward.memoryBytes <= SEARCH_MEMORY_BYTES ? { forward, backward } : undefined;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
