import { type PatternShape, shapeOf } from '../syntax/pattern-shape.ts';
import type { PatternNode, PatternTree } from '../syntax/pattern-tree.ts';
import { trimForFiring } from '../syntax/trim-for-firing.ts';
import { compileProgram, unanchored } from './byte-program.ts';
import { canBuildAhead } from './cover-transitions.ts';
import { type Automaton, determinize, MAX_TRANSITIONS, START_CONTEXTS } from './determinize.ts';
import { BUILD_NS, BUILD_RANGE_NS } from './engine-figures.ts';
import { SEARCH_MEMORY_BYTES, SET_MEMORY_BYTES } from './engine-memory.ts';
import type { FigureSource, FiringFigures, ListingFigures, ProbeFigures, SearchFigures } from './pattern-figures.ts';
import { type ProbePlan, probePlan } from './probe-plan.ts';
import { readsBytesTwiceAtMost } from './rescan.ts';

/** Smallest distance of two probes in bytes: a probe for each byte would be slower than a search. */
const MIN_PROBE_DISTANCE = 2;

/** The two automata with which the engine finds one match: one forward to its end, then one backward to its start. */
type SpanSearch = { readonly forward: Automaton; readonly backward: Automaton };

/**
 * The analysis of a pattern's automata. Each part is computed on first use, in bounded time, and is undefined when the
 * automaton is too large to be built in advance.
 */
export type PatternAnalysis = {
  /** Names the pattern in a FigureSource. */
  readonly key: string;
  readonly shape: PatternShape;
  /** The pattern trimmed for the question whether it matches somewhere (trimForFiring). */
  readonly firing: {
    readonly node: PatternNode;
    /** The automaton of a set that contains only this pattern. */
    set(): Automaton | undefined;
    probe(): ProbePlan | undefined;
    figures(): FiringFigures;
  };
  /** The unchanged pattern, whose matches are listed. */
  readonly listing: { search(): SpanSearch | undefined; probe(): ProbePlan | undefined; figures(): ListingFigures };
};

/** Prepares the analysis of a pattern. Deterministic: the same pattern has the same analysis everywhere. */
export function analysePattern(tree: PatternTree, key: string, source: FigureSource): PatternAnalysis {
  const shape = shapeOf(tree.node);
  const node = trimForFiring(tree.node);
  const set = once(() => source.set(key, () => setAutomatonOf(node)));
  const probe = once(() => probePlanOf(node, shapeOf(node)));
  const listing = { search: once(() => spanSearchOf(tree.node)), probe: once(() => probePlanOf(tree.node, shape)) };
  return {
    key,
    shape,
    firing: {
      node,
      set,
      probe,
      figures: once(() => source.firing(key, () => firingFiguresOf(node, set(), probe))),
    },
    listing: {
      ...listing,
      figures: once(() =>
        source.listing(key, () => ({
          probe: probeFiguresOf(listing.probe()),
          search: searchFiguresOf(listing.search(), shape),
        })),
      ),
    },
  };
}

function firingFiguresOf(
  node: PatternNode,
  set: Automaton | undefined,
  probe: () => ProbePlan | undefined,
): FiringFigures {
  if (set !== undefined) return { plan: 'set', memoryBytes: set.memoryBytes };
  const probed = probeFiguresOf(probe());
  if (probed !== undefined) return { plan: 'probe', ...probed };
  return { plan: 'unbounded-set', ranges: compileProgram(node, false)?.edgeCount ?? Number.POSITIVE_INFINITY };
}

/** The plan for probes; undefined if there is none, or if probes would be slower than a search. */
function probeFiguresOf(plan: ProbePlan | undefined): ProbeFigures | undefined {
  if (plan === undefined || plan.distance < MIN_PROBE_DISTANCE) return undefined;
  const { distance, scanned, overlap, automaton } = plan;
  return { distance, scanned, overlap, memoryBytes: automaton.memoryBytes };
}

function searchFiguresOf(search: SpanSearch | undefined, shape: PatternShape): SearchFigures | undefined {
  if (search === undefined) return undefined;
  const { forward, backward } = search;
  let buildAllNs = 0;
  let buildMostNs = 0;
  for (const work of backward.work) {
    const own = BUILD_NS + BUILD_RANGE_NS * work;
    buildAllNs += backward.classCount * own;
    buildMostNs = Math.max(buildMostNs, own);
  }
  return {
    memoryBytes: Math.max(forward.memoryBytes, backward.memoryBytes),
    readsTwiceAtMost: !shape.canMatchEmpty && readsBytesTwiceAtMost(forward),
    buildAllNs,
    buildMostNs,
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
