import type { GrantedBudget } from '#identity/run-grant';

/**
 * For each amount, the smaller one of both budgets: a run that another run has started never gets more than the budget
 * of that run.
 */
export function smallerBudget(own: GrantedBudget, other: GrantedBudget | undefined): GrantedBudget {
  if (other === undefined) return own;
  return {
    nodes: Math.min(own.nodes, other.nodes),
    modelTokens: Math.min(own.modelTokens, other.modelTokens),
    outputBytes: Math.min(own.outputBytes, other.outputBytes),
  };
}
