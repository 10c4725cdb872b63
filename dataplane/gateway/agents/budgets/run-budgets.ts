import { createHash } from 'node:crypto';
import type { Subject } from '#identity/identity';
import type { Database } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { SqlUnavailableError } from '#sql/sql-error';
import { BudgetsUnavailableError, type RunBudgets, type RunUse, type UsedBudget } from './ports.ts';

/** Limits of one person with one agent: runs, and the tokens and bytes of a day; undefined for no limit. */
export type BudgetLimits = {
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
  readonly tokensPerDay: number | undefined;
  readonly bytesPerDay: number | undefined;
};

type UsedRow = {
  /** The budget of the day that is used. */
  readonly of_day: UsedBudget['limit'] | null;
  readonly minute_left: number;
  readonly day_left: number;
};

/** The schema of the budgets, with the folder of its migrations. */
export const budgetTables = { schema: 'agent_budgets', folder: new URL('./migrations', import.meta.url) } as const;
/** A limit that no count reaches, for a span without a limit. */
const unlimited = 2_147_483_647;
const unlimitedAmount = Number.MAX_SAFE_INTEGER;

/** Creates the tables of the budgets. @throws SqlUnavailableError, MigrationError */
export async function migrateBudgets(database: Database): Promise<void> {
  await migrate(database, budgetTables);
}

/**
 * The budgets in PostgreSQL, which all replicas share (decision 0077). Each run executes one statement, which increases
 * the counts in the row of the person and the agent, or changes nothing if a limit is reached. The clock is that of the
 * database.
 */
export function openRunBudgets(
  { sql }: Pick<Database, 'sql'>,
  {
    perMinute = unlimited,
    perDay = unlimited,
    tokensPerDay = unlimitedAmount,
    bytesPerDay = unlimitedAmount,
  }: BudgetLimits,
): RunBudgets {
  async function take(agentId: string, person: Buffer): Promise<ReturnType<RunBudgets['take']>> {
    const taken = await sql`
      insert into agent_budgets.runs_of_person as used (agent_id, person, minute_at, minute_runs, day_at, day_runs)
      values (${agentId}, ${person}, date_trunc('minute', now()), 1, date_trunc('day', now(), 'UTC'), 1)
      on conflict (agent_id, person) do update set
        minute_runs = case when used.minute_at < excluded.minute_at then 1 else used.minute_runs + 1 end,
        minute_at = greatest(used.minute_at, excluded.minute_at),
        day_runs = case when used.day_at < excluded.day_at then 1 else used.day_runs + 1 end,
        day_tokens = case when used.day_at < excluded.day_at then 0 else used.day_tokens end,
        day_bytes = case when used.day_at < excluded.day_at then 0 else used.day_bytes end,
        day_at = greatest(used.day_at, excluded.day_at)
      where (used.minute_at < excluded.minute_at or used.minute_runs < ${perMinute})
        and (used.day_at < excluded.day_at or (used.day_runs < ${perDay}
          and used.day_tokens < ${tokensPerDay} and used.day_bytes < ${bytesPerDay}))
      returning 1`;
    if (taken.length > 0) return undefined;
    const [row] = await sql<UsedRow[]>`
      select case
          when day_at < date_trunc('day', now(), 'UTC') then null
          when day_tokens >= ${tokensPerDay} then 'tokens'
          when day_bytes >= ${bytesPerDay} then 'bytes'
          when day_runs >= ${perDay} then 'runs'
        end as of_day,
        ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::int as minute_left,
        ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::int as day_left
      from agent_budgets.runs_of_person where agent_id = ${agentId} and person = ${person}`;
    const ofDay = row?.of_day ?? null;
    const left = ofDay === null ? row?.minute_left : row?.day_left;
    const retryAfterSeconds = Math.max(1, left ?? 1);
    if (ofDay === null) return { limit: 'runs', span: 'minute', retryAfterSeconds };
    return { limit: ofDay, span: 'day', retryAfterSeconds };
  }

  async function use(agentId: string, person: Buffer, { tokens, bytes }: RunUse): Promise<void> {
    await sql`
      insert into agent_budgets.runs_of_person as used
        (agent_id, person, minute_at, minute_runs, day_at, day_runs, day_tokens, day_bytes)
      values (${agentId}, ${person}, date_trunc('minute', now()), 0, date_trunc('day', now(), 'UTC'), 0, ${tokens}, ${bytes})
      on conflict (agent_id, person) do update set
        day_runs = case when used.day_at < excluded.day_at then 0 else used.day_runs end,
        day_tokens = case when used.day_at < excluded.day_at then 0 else used.day_tokens end + excluded.day_tokens,
        day_bytes = case when used.day_at < excluded.day_at then 0 else used.day_bytes end + excluded.day_bytes,
        day_at = greatest(used.day_at, excluded.day_at)`;
  }

  async function asUnavailable<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof SqlUnavailableError) throw new BudgetsUnavailableError(error);
      throw error;
    }
  }

  return {
    take: async (agentId, person) => await asUnavailable(take(agentId, personDigest(person))),
    use: async (agentId, person, used) => await asUnavailable(use(agentId, personDigest(person), used)),
  };
}

/** Removes the rows of persons who have started no run since the day before. */
export async function removeOldBudgets({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql`delete from agent_budgets.runs_of_person where day_at < date_trunc('day', now(), 'UTC') - interval '1 day'`;
}

/**
 * The digest that stands for a person in the table. The table contains no person, so that it is kept when the data of a
 * person is erased elsewhere.
 */
function personDigest({ issuer, subject }: Subject): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest();
}
