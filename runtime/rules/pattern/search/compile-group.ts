import type { CheckedText } from '../../checked-text.ts';
import type { PatternAnalysis } from '../cost/analyse-pattern.ts';
import { coverTransitions } from '../cost/cover-transitions.ts';
import { setAutomaton } from '../cost/pattern-cost.ts';
import { nextPlace, type ProbePlan } from '../cost/probe-plan.ts';
import type { PatternFault, PatternTree } from '../syntax/pattern-tree.ts';
import { printPattern } from '../syntax/print-pattern.ts';
import { type EnginePattern, openPattern, openSet } from './engine.ts';
import { type Matching, preparedMatching } from './matching.ts';
import { necessaryBytes, windowOf } from './necessary-bytes.ts';

/** A pattern that was parsed, accepted by the engine and analysed. */
export type PreparedPattern = {
  readonly tree: PatternTree;
  readonly analysis: PatternAnalysis;
  readonly engine: EnginePattern;
};

/** Several patterns that one pass over the text judges. */
export type CompiledGroup = {
  /**
   * Ascending indexes of the group's patterns that match. Throws EngineError when the engine fails, and never returns
   * an empty list instead.
   */
  firing(text: CheckedText): readonly number[];
};

/**
 * Compiles the patterns of one group (see groupPatterns), or returns the reason why the engine refuses the group. If
 * the group is prepared, the engine traverses its whole automaton once, so that no check has to build it.
 */
export function compileGroup(
  patterns: readonly PreparedPattern[],
  { kind }: Matching = preparedMatching,
): CompiledGroup | PatternFault {
  const search = openSearch(patterns, kind);
  if ('reason' in search) return search;
  const needed = necessaryBytes(patterns.map(({ analysis }) => analysis.firing.node));
  if (needed === undefined) return { firing: ({ bytes }) => search(bytes) };
  return {
    firing(text) {
      const window = windowOf(text, needed);
      return window === undefined ? none : search(text.bytes.subarray(window.start, window.end));
    },
  };
}

type Search = (bytes: Buffer) => readonly number[];

const none: readonly number[] = [];

function openSearch(patterns: readonly PreparedPattern[], kind: Matching['kind']): Search | PatternFault {
  const [only] = patterns;
  if (only === undefined) return () => none;
  const sources = patterns.map(({ analysis }) => printPattern(analysis.firing.node));
  if (patterns.length === 1 && only.analysis.firing.figures().plan === 'probe') {
    return openProbes(sources.join(''), kind === 'prepared' ? only.analysis.firing.probe() : undefined);
  }
  const opened = openSet(sources);
  if ('refused' in opened) return { reason: opened.refused };
  const automaton = kind === 'prepared' ? setAutomaton(patterns.map(({ analysis }) => analysis)) : undefined;
  if (automaton !== undefined) coverTransitions(automaton, (text) => opened.firing(text));
  return (bytes) => opened.firing(bytes);
}

/** Opens probes by a plan; without a plan the engine searches, with the same results. */
function openProbes(source: string, plan: ProbePlan | undefined): Search | PatternFault {
  const engine = openPattern(source, true);
  if ('refused' in engine) return { reason: engine.refused };
  if (plan === undefined) return (bytes) => (engine.find(bytes, 0) === undefined ? none : [0]);
  coverTransitions(plan.automaton, (text, from) => engine.matchAt(text, from));
  return (bytes) => {
    for (let at = nextPlace(plan, bytes, 0); at >= 0; at = nextPlace(plan, bytes, at + 1)) {
      if (engine.matchAt(bytes, at) >= 0) return [0];
    }
    return none;
  };
}
