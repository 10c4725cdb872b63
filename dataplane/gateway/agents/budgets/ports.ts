import type { Subject } from '#identity/identity';

/** The budget that is used, its span of time, and when its next span begins. */
export type UsedBudget = {
  readonly limit: 'runs' | 'tokens' | 'bytes';
  readonly span: 'minute' | 'day';
  readonly retryAfterSeconds: number;
};

/** The usage of runs: tokens that models reported, and bytes of the bodies of calls in both directions. */
export type RunUse = { readonly tokens: number; readonly bytes: number };

/** The runs, tokens and bytes that one person may use with one agent, in all replicas together. */
export type RunBudgets = {
  /**
   * Takes one run from the budget of the minute and from the budget of the day, or from neither. No run may start after
   * the tokens or the bytes of the day are used up.
   * @returns undefined if the run may start
   * @throws BudgetsUnavailableError
   */
  take(agentId: string, person: Subject): Promise<UsedBudget | undefined>;
  /** Counts the usage of a run in the budgets of the day. @throws BudgetsUnavailableError */
  use(agentId: string, person: Subject, used: RunUse): Promise<void>;
};

/** The budgets cannot be read or written now, so that no run may start. */
export class BudgetsUnavailableError extends Error {
  constructor(cause?: unknown) {
    super('the budgets of runs cannot be read', { cause });
    this.name = 'BudgetsUnavailableError';
  }
}

/** Budgets without limits: every run may start. */
export const noBudgets: RunBudgets = { take: async () => undefined, use: async () => undefined };
