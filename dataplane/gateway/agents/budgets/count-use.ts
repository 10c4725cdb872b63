import type { Subject } from '#identity/identity';
import type { Logger } from '#kit/log/logger';
import type { RunBudgets, RunUse } from './ports.ts';

type Use = { readonly agentId: string; readonly person: Subject; readonly used: RunUse };

/**
 * Counts the usage of a call that has ended. Never rejects: the answer cannot be withdrawn, and no run starts while the
 * budgets cannot be written.
 */
export async function countUse(
  { budgets, logger }: { readonly budgets: Pick<RunBudgets, 'use'>; readonly logger: Pick<Logger, 'warn'> },
  { agentId, person, used }: Use,
): Promise<void> {
  if (used.tokens === 0 && used.bytes === 0) return;
  try {
    await budgets.use(agentId, person, used);
  } catch {
    logger.warn('agent_use_not_counted', { agentId, ...used });
  }
}
