import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { connectSql, passwordFrom } from '#sql/connect';
import { watchTables } from '#sql/watch-tables';
import { BudgetsUnavailableError, type RunBudgets } from './ports.ts';
import { type BudgetLimits, budgetTables, migrateBudgets, openRunBudgets, removeOldBudgets } from './run-budgets.ts';

type BudgetsAccess = { readonly databaseUrl: string; readonly databasePasswordFile: string };

const retryMs = 1_000;
/** Time between two removals of old rows, milliseconds. */
const removeEveryMs = 3_600_000;
const session = { applicationName: 'portcullis-gateway-budgets', statementTimeoutMs: 2_000, max: 4 } as const;

/**
 * Opens the budgets in the background, because the gateway also serves requests that need no budget. Until the database
 * was reached, and while it lacks a table, `take` throws BudgetsUnavailableError. Lost tables are logged; a schema that
 * is lost as a whole is created again, because its counts end with the day. Disposing closes the connections.
 * @param lookMs interval between two queries for lost tables, milliseconds
 */
export function awaitBudgets(
  { databaseUrl: url, databasePasswordFile }: BudgetsAccess,
  limits: BudgetLimits,
  logger: Pick<Logger, 'info' | 'warn'>,
  lookMs?: number,
): RunBudgets & AsyncDisposable {
  const stop = new AbortController();
  const database = connectSql({ url, password: passwordFrom(databasePasswordFile), ...session });
  const budgets = openRunBudgets(database, limits);
  let isOpen = false;
  let creating: Promise<void> | undefined;

  async function keep(): Promise<void> {
    await create();
    if (stop.signal.aborted) return;
    isOpen = true;
    logger.info('agent_budgets_available');
    await using _watched = watchTables(database, {
      schemas: [budgetTables],
      onChange: reportMissing,
      ...(lookMs === undefined ? {} : { everyMs: lookMs }),
    });
    while (!stop.signal.aborted) {
      // A failure is repaired by the next removal, of this replica or of another one.
      await removeOldBudgets(database).catch(() => undefined);
      await wait(removeEveryMs, stop.signal);
    }
    await creating;
  }

  /** Creates the tables, with a retry each second until it succeeds or the budgets are disposed. */
  async function create(): Promise<void> {
    for (let isReported = false; !stop.signal.aborted; isReported = true) {
      try {
        await migrateBudgets(database);
        return;
      } catch (error) {
        if (!isReported) {
          logger.warn('agent_budgets_unavailable', { code: error instanceof Error ? error.name : 'unexpected' });
        }
        await wait(retryMs, stop.signal);
      }
    }
  }

  function reportMissing(missing: readonly string[]): void {
    if (missing.length === 0) {
      logger.info('agent_budgets_complete');
      return;
    }
    logger.warn('agent_budgets_incomplete', { tables: missing.join(' ') });
    if (!missing.includes(`${budgetTables.schema}.migrations`)) return;
    creating ??= create().finally(() => {
      creating = undefined;
    });
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
