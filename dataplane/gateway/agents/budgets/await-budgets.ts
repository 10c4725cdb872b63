import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { connectSql, passwordFrom } from '#sql/connect';
import { BudgetsUnavailableError, type RunBudgets } from './ports.ts';
import { type BudgetLimits, migrateBudgets, openRunBudgets, removeOldBudgets } from './run-budgets.ts';

type BudgetsAccess = { readonly databaseUrl: string; readonly databasePasswordFile: string };

const retryMs = 1_000;
/** Time between two removals of old rows, milliseconds. */
const removeEveryMs = 3_600_000;
const session = { applicationName: 'portcullis-gateway-budgets', statementTimeoutMs: 2_000, max: 4 } as const;

/**
 * Opens the budgets in the background, because the gateway also serves what needs none. Until the database was reached,
 * `take` throws BudgetsUnavailableError. Disposing closes the connections.
 */
export function awaitBudgets(
  { databaseUrl: url, databasePasswordFile }: BudgetsAccess,
  limits: BudgetLimits,
  logger: Pick<Logger, 'info' | 'warn'>,
): RunBudgets & AsyncDisposable {
  const stop = new AbortController();
  const database = connectSql({ url, password: passwordFrom(databasePasswordFile), ...session });
  const budgets = openRunBudgets(database, limits);
  let isOpen = false;

  async function keep(): Promise<void> {
    for (let isReported = false; !isOpen && !stop.signal.aborted; isReported = true) {
      try {
        await migrateBudgets(database);
        isOpen = true;
        logger.info('agent_budgets_available');
      } catch (error) {
        if (!isReported) {
          logger.warn('agent_budgets_unavailable', { code: error instanceof Error ? error.name : 'unexpected' });
        }
        await wait(retryMs, stop.signal);
      }
    }
    while (!stop.signal.aborted) {
      // A failure is repaired by the next removal, of this replica or of another one.
      await removeOldBudgets(database).catch(() => undefined);
      await wait(removeEveryMs, stop.signal);
    }
  }

  const keeping = keep();
  return {
    async take(agentId, person) {
      if (!isOpen) throw new BudgetsUnavailableError();
      return await budgets.take(agentId, person);
    },
    async use(agentId, person, used) {
      if (!isOpen) throw new BudgetsUnavailableError();
      await budgets.use(agentId, person, used);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await keeping;
      await database[Symbol.asyncDispose]();
    },
  };
}
