import { BudgetsUnavailableError, type RunBudgets, type UsedBudget } from '../budgets/ports.ts';
import type { AdmittedCall } from '../calls/admit-agent-call.ts';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AgentCaller } from '../calls/identify-caller.ts';

type BudgetParts = {
  readonly budgets: Pick<RunBudgets, 'take'>;
  readonly metrics: { budgetUsed(agent: string, used: UsedBudget): void };
};

/** Counts a run in the budget of its person, even if an agent calls for the person. @throws AgentRefusal */
export async function takeBudget(
  { budgets, metrics }: BudgetParts,
  { spec, caller }: Pick<AdmittedCall, 'spec'> & { readonly caller: Pick<AgentCaller, 'subject'> },
): Promise<void> {
  let used: UsedBudget | undefined;
  try {
    used = await budgets.take(spec.agentId, caller.subject);
  } catch (error) {
    if (error instanceof BudgetsUnavailableError) throw new AgentRefusal('budget_unavailable');
    throw error;
  }
  if (used === undefined) return;
  metrics.budgetUsed(spec.agent.name, used);
  throw new AgentRefusal('budget_used', { 'retry-after': String(used.retryAfterSeconds) });
}
