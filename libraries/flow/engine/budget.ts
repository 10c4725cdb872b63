import { flowLimits } from '#contracts/flow-limits';
import { FlowError } from './flow-error.ts';

/** The limits of one run, including its subflows. */
export type RunBudget = { readonly [Name in keyof typeof flowLimits.run]: number };

export const fullBudget: RunBudget = {
  nodes: flowLimits.run.nodes.max,
  modelTokens: flowLimits.run.modelTokens.max,
  outputBytes: flowLimits.run.outputBytes.max,
  timeoutMs: flowLimits.run.timeoutMs.max,
};

type Counted = Exclude<keyof RunBudget, 'timeoutMs'>;
const words: Readonly<Record<Counted, string>> = { nodes: 'nodes', modelTokens: 'model tokens', outputBytes: 'bytes' };

/** Counts the rest of the budget of a run. A budget is never larger than the limits of a run. */
export class BudgetMeter {
  readonly #left: Record<Counted, number>;

  constructor(budget: RunBudget) {
    this.#left = {
      nodes: Math.min(budget.nodes, fullBudget.nodes),
      modelTokens: Math.min(budget.modelTokens, fullBudget.modelTokens),
      outputBytes: Math.min(budget.outputBytes, fullBudget.outputBytes),
    };
  }

  left(name: Counted): number {
    return this.#left[name];
  }

  /** @throws FlowError budget_exceeded */
  spend(name: Counted, amount: number): void {
    this.#left[name] -= amount;
    if (this.#left[name] < 0) throw new FlowError('budget_exceeded', { message: words[name] });
  }
}
