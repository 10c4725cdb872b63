import type { PatternAnalysis } from './cost/analyse-pattern.ts';
import { coverTransitions } from './cost/cover-texts.ts';
import { nextPlace, type ProbePlan } from './cost/probe-plan.ts';
import { type EnginePattern, openSet } from './engine.ts';
import { firingPlan, setAutomaton } from './pattern-cost.ts';
import type { PatternFault, PatternTree } from './pattern-tree.ts';

/** A pattern that was parsed, accepted by the engine and analysed. */
export type PreparedPattern = {
  readonly tree: PatternTree;
  readonly analysis: PatternAnalysis;
  readonly engine: EnginePattern;
};

/** Several patterns judged by one pass over the text. */
export type CompiledGroup = {
  /** Indexes into the group, ascending, of the patterns that match; throws EngineError, never answers "none" instead. */
  firing(bytes: Buffer): number[];
};

/**
 * Compiles the patterns of one group (see groupPatterns), or says why the engine refuses it. The set is searched once
 * with texts that make the engine build its whole automaton, so that no checked text has to pay for that.
 */
export function compileGroup(patterns: readonly PreparedPattern[]): CompiledGroup | PatternFault {
  const [only] = patterns;
  if (only === undefined) return { firing: () => [] };
  const plan = only.analysis.probe();
  if (patterns.length === 1 && plan !== undefined && firingPlan(only.analysis) === 'probe') {
    const anchored = only.analysis.anchored();
    if (anchored !== undefined) coverTransitions(anchored, (text, from) => only.engine.matchAt(text, from));
    return { firing: (bytes) => (matchesSomewhere(only.engine, plan, bytes) ? [0] : []) };
  }
  const opened = openSet(patterns.map(({ tree }) => setSource(tree)));
  if ('refused' in opened) return { reason: opened.refused };
  const automaton = setAutomaton(patterns.map(({ analysis }) => analysis));
  if (automaton !== undefined) coverTransitions(automaton, (text) => opened.firing(text));
  return opened;
}

/** Members of a set share their flags, so case is written into the expression. */
function setSource({ engineSource, caseSensitive }: PatternTree): string {
  return caseSensitive ? engineSource : `(?i:${engineSource})`;
}

function matchesSomewhere(engine: EnginePattern, plan: ProbePlan, bytes: Buffer): boolean {
  for (let at = nextPlace(plan, bytes, 0); at >= 0; at = nextPlace(plan, bytes, at + 1)) {
    if (engine.matchAt(bytes, at) >= 0) return true;
  }
  return false;
}
