import type { GrantedBudget } from '#identity/run-grant';

/** The smaller amounts of both: a run that another one has started never has more than the budget of that run. */
export function smallerBudget(own: GrantedBudget, other: GrantedBudget | undefined): GrantedBudget {
  if (other === undefined) return own;
  return {
    nodes: Math.min(own.nodes, other.nodes),
    modelTokens: Math.min(own.modelTokens, other.modelTokens),
    outputBytes: Math.min(own.outputBytes, other.outputBytes),
  };
}
