import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { connectSql, passwordFrom } from '#sql/connect';
import { type OpeningState, openRepeatedly } from '#sql/open-repeatedly';
import { watchTables } from '#sql/watch-tables';
import { BudgetsUnavailableError, type RunBudgets } from './ports.ts';
import { type BudgetLimits, budgetTables, migrateBudgets, openRunBudgets, removeOldBudgets } from './run-budgets.ts';

/** Budgets that may not be open yet. */
type AwaitedBudgets = RunBudgets &
  AsyncDisposable & {
    /** `refused`: the tables of the budgets belong to another release. */
    state(): OpeningState;
  };
type BudgetsAccess = { readonly databaseUrl: string; readonly databasePasswordFile: string };

/** Time between two removals of old rows, milliseconds. */
const removeEveryMs = 3_600_000;
const session = { applicationName: 'portcullis-gateway-budgets', statementTimeoutMs: 2_000, max: 4 } as const;

/**
 * Opens the budgets in the background, because the gateway also serves requests without budgets. Until the database was
 * reached, and while a table is missing, `take` throws BudgetsUnavailableError. Lost tables are logged; a schema that
 * is lost completely is created again, because its counts end with the day. Tables of another release do not count as
 * an outage: the log event `agent_budgets_refused` names the file. Disposing closes the connections.
 * @param options.lookMs time between two looks for lost tables, milliseconds
 * @param options.onChange called after each change of the state
 */
export function awaitBudgets(
  { databaseUrl: url, databasePasswordFile }: BudgetsAccess,
  limits: BudgetLimits,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  { lookMs, onChange }: { readonly lookMs?: number; readonly onChange?: () => void } = {},
): AwaitedBudgets {
  const stop = new AbortController();
  const database = connectSql({ url, password: passwordFrom(databasePasswordFile), ...session });
  const budgets = openRunBudgets(database, limits);
  let isOpen = false;
  let state: OpeningState = 'unknown';
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
      // A failed removal is repeated by the next removal, of this replica or of another one.
      await removeOldBudgets(database).catch(() => undefined);
      await wait(removeEveryMs, stop.signal);
    }
    await creating;
  }

  /** Creates the tables, with a retry each second until it succeeds or the budgets are disposed. */
  async function create(): Promise<void> {
    await openRepeatedly(
      async () => {
        await migrateBudgets(database);
        move('open');
      },
      {
        signal: stop.signal,
        onFailure(failure) {
          if (failure.state === 'away') logger.warn('agent_budgets_unavailable', { code: failure.code });
          else logger.error('agent_budgets_refused', { fault: failure.fault, problem: failure.problem });
          move(failure.state);
        },
      },
    );
  }

  function move(next: OpeningState): void {
    state = next;
    onChange?.();
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
    state: () => state,
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
