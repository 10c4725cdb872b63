import type { PatternAnalysis } from './analyse-pattern.ts';
import { combine } from './combine.ts';
import type { Automaton } from './determinize.ts';
import { firingCostMs, firingPlan, setCostMs } from './pattern-cost.ts';

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
 * Puts patterns into groups, each of which keeps within the budget as a whole, in milliseconds for a text of at most
 * `maxBytes` bytes. Greedy and deterministic: a pattern joins the newest set of patterns if their common automaton stays
 * small, else it opens a new one; a pattern that is looked for by probes is a group of its own. Groups come in order of
 * their first member.
 */
export function groupPatterns(
  patterns: readonly PatternAnalysis[],
  { maxBytes, budgetMs }: { readonly maxBytes: number; readonly budgetMs: number },
): Grouping {
  const groups: { members: number[]; costMs: number }[] = [];
  const refused: { member: number; costMs: number }[] = [];
  let open: { group: { members: number[]; costMs: number }; automaton: Automaton } | undefined;
  for (const [member, analysis] of patterns.entries()) {
    const costMs = firingCostMs([analysis], maxBytes);
    if (costMs > budgetMs) {
      refused.push({ member, costMs });
      continue;
    }
    const own = firingPlan(analysis) === 'set' ? analysis.firing.set() : undefined;
    const joint = own === undefined || open === undefined ? undefined : combine(open.automaton, own);
    const jointMs = setCostMs(joint, maxBytes);
    if (open !== undefined && joint !== undefined && jointMs <= budgetMs) {
      open.group.members.push(member);
      open.group.costMs = jointMs;
      open.automaton = joint;
      continue;
    }
    const group = { members: [member], costMs };
    groups.push(group);
    if (own !== undefined) open = { group, automaton: own };
  }
  return { groups, refused };
}
