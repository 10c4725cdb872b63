import { flowLimits } from '#contracts/flow-limits';
import type { RunAmounts } from '#contracts/run-usage';
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

/** The part of a budget that a call has while it is under way. */
export type BudgetShare = {
  readonly amounts: RunAmounts;
  /** The usage of the call; without a report that is its whole budget. */
  report(used: RunAmounts): void;
};
type OpenShare = BudgetShare & {
  /** Returns the unused part, once. @throws FlowError budget_exceeded */ settle(): void;
};

const names = ['nodes', 'modelTokens', 'outputBytes'] as const satisfies readonly Counted[];

/** Counts the rest of the budget of a run. A budget is never larger than the limits of a run. */
export class BudgetMeter {
  readonly #given: RunAmounts;
  readonly #left: Record<Counted, number>;
  #shares = 0;

  constructor(budget: RunBudget) {
    this.#given = {
      nodes: Math.min(budget.nodes, fullBudget.nodes),
      modelTokens: Math.min(budget.modelTokens, fullBudget.modelTokens),
      outputBytes: Math.min(budget.outputBytes, fullBudget.outputBytes),
    };
    this.#left = { ...this.#given };
  }

  left(name: Counted): number {
    return this.#left[name];
  }

  /** The spent budget, including the shares of calls that have not ended. */
  used(): RunAmounts {
    const usedOf = (name: Counted): number => this.#given[name] - this.#left[name];
    return { nodes: usedOf('nodes'), modelTokens: usedOf('modelTokens'), outputBytes: usedOf('outputBytes') };
  }

  /** @throws FlowError budget_exceeded */
  spend(name: Counted, amount: number): void {
    const isExceeded = this.#left[name] < amount;
    // A node that is refused does not run; tokens and bytes were used before they are counted.
    if (!isExceeded || name !== 'nodes') this.#left[name] -= amount;
    if (isExceeded) throw new FlowError('budget_exceeded', { message: words[name] });
  }

  /**
   * Takes the share of a call that runs another flow. Calls at the same time have disjoint shares, so that all of
   * them together never use more than the budget. The run keeps a part, so that it can continue after a lost call.
   * @param among how many walks may be under way at the same time: each gets as much as the run keeps
   * @throws FlowError budget_exceeded if a part is empty
   */
  reserve(among: number): OpenShare {
    const parts = Math.max(1, among - this.#shares) + 1;
    const partOf = (name: Counted): number => Math.floor(this.#left[name] / parts);
    const amounts = { nodes: partOf('nodes'), modelTokens: partOf('modelTokens'), outputBytes: partOf('outputBytes') };
    for (const name of names) {
      if (amounts[name] < 1) throw new FlowError('budget_exceeded', { message: words[name] });
    }
    for (const name of names) this.#left[name] -= amounts[name];
    this.#shares += 1;
    let used: RunAmounts = amounts;
    let isOpen = true;
    return {
      amounts,
      report(reported) {
        used = reported;
      },
      settle: () => {
        if (!isOpen) return;
        isOpen = false;
        this.#shares -= 1;
        for (const name of names) this.#left[name] += amounts[name];
        for (const name of names) this.spend(name, used[name]);
      },
    };
  }
}
