import type { Subject } from '#identity/identity';

/** The span of time whose budget is used, and when its next one begins. */
export type UsedBudget = { readonly span: 'minute' | 'day'; readonly retryAfterSeconds: number };

/** The runs that one person may start with one agent, in all replicas together. */
export type RunBudgets = {
  /**
   * Takes one run from the budgets of the minute and of the day, from both or from none.
   * @returns undefined for a run that may start
   * @throws BudgetsUnavailableError
   */
  take(agentId: string, person: Subject): Promise<UsedBudget | undefined>;
};

/** The budgets cannot be read or written now, so that no run may start. */
export class BudgetsUnavailableError extends Error {
  constructor(cause?: unknown) {
    super('the budgets of runs cannot be read', { cause });
    this.name = 'BudgetsUnavailableError';
  }
}

/** Without limits: every run may start. */
export const noBudgets: RunBudgets = { take: async () => undefined };
