import type { PatternAnalysis } from './analyse-pattern.ts';
import { combine } from './combine.ts';
import type { Automaton } from './determinize.ts';
import { firingCostMs, setAutomaton, setCostMs } from './pattern-cost.ts';
import type { FigureSource } from './pattern-figures.ts';

/** Patterns that one pass of the engine matches together. */
type PatternGroup = {
  /** Ascending indexes into the given list of patterns. */
  readonly members: readonly number[];
  readonly costMs: number;
};

/** The groups of patterns that run together, and the patterns that are too costly to run. */
type Grouping = {
  readonly groups: readonly PatternGroup[];
  readonly refused: readonly { readonly member: number; readonly costMs: number }[];
};

/**
 * Divides patterns into groups, each of which stays within the budget as a whole, in milliseconds for a text of at most
 * `maxBytes` bytes. The division is greedy and deterministic: a pattern joins the newest set of patterns if their
 * common automaton stays small, else it begins a new set; a pattern that is searched by probes is a separate group.
 * Groups are ordered by their first member.
 */
export function groupPatterns(
  patterns: readonly PatternAnalysis[],
  { maxBytes, budgetMs }: { readonly maxBytes: number; readonly budgetMs: number },
  source: FigureSource,
): Grouping {
  const groups: OpenGroup[] = [];
  const refused: { member: number; costMs: number }[] = [];
  let open: OpenGroup | undefined;
  for (const [member, analysis] of patterns.entries()) {
    const costMs = firingCostMs([analysis], maxBytes);
    if (costMs > budgetMs) {
      refused.push({ member, costMs });
      continue;
    }
    const isSet = analysis.firing.figures().plan === 'set';
    if (isSet && open !== undefined && join(open, { member, analysis }, { maxBytes, budgetMs }, source)) continue;
    const group: OpenGroup = { members: [member], analyses: [analysis], costMs, automaton: undefined };
    groups.push(group);
    if (isSet) open = group;
  }
  return { groups, refused };
}

type OpenGroup = {
  readonly members: number[];
  readonly analyses: PatternAnalysis[];
  costMs: number;
  /** The common automaton of the members, if it was built: known figures make it unnecessary. */
  automaton: Automaton | undefined;
};

/** Adds a pattern to a group if their common automaton stays small and within the budget. */
function join(
  group: OpenGroup,
  { member, analysis }: { readonly member: number; readonly analysis: PatternAnalysis },
  { maxBytes, budgetMs }: { readonly maxBytes: number; readonly budgetMs: number },
  source: FigureSource,
): boolean {
  let built: Automaton | undefined;
  const memoryBytes = source.joint(
    [...group.analyses, analysis].map(({ key }) => key),
    () => {
      group.automaton ??= setAutomaton(group.analyses);
      const own = analysis.firing.set();
      built = group.automaton && own && combine(group.automaton, own);
      return built?.memoryBytes;
    },
  );
  const costMs = setCostMs(memoryBytes, maxBytes);
  if (memoryBytes === undefined || costMs > budgetMs) return false;
  group.members.push(member);
  group.analyses.push(analysis);
  group.costMs = costMs;
  group.automaton = built;
  return true;
}
