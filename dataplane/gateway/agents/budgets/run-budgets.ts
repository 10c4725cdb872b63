import { createHash } from 'node:crypto';
import type { Subject } from '#identity/identity';
import type { Database } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { SqlUnavailableError } from '#sql/sql-error';
import { BudgetsUnavailableError, type RunBudgets } from './ports.ts';

/** Runs of one person with one agent; undefined for no limit. */
export type BudgetLimits = { readonly perMinute: number | undefined; readonly perDay: number | undefined };

const schema = 'agent_budgets';
/** A limit that no count reaches, for a span without a limit. */
const unlimited = 2_147_483_647;

/** Creates the tables of the budgets. @throws SqlUnavailableError, MigrationError */
export async function migrateBudgets(database: Database): Promise<void> {
  await migrate(database, { schema, folder: new URL('./migrations', import.meta.url) });
}

/**
 * The budgets in PostgreSQL, which all replicas share (decision 0077). A run is one statement: it counts in the row of the
 * person and the agent, or changes nothing if a limit is reached. The clock is that of the database.
 */
export function openRunBudgets(
  { sql }: Pick<Database, 'sql'>,
  { perMinute = unlimited, perDay = unlimited }: BudgetLimits,
): RunBudgets {
  async function take(agentId: string, person: Buffer): Promise<ReturnType<RunBudgets['take']>> {
    const taken = await sql`
      insert into agent_budgets.runs_of_person as used (agent_id, person, minute_at, minute_runs, day_at, day_runs)
      values (${agentId}, ${person}, date_trunc('minute', now()), 1, date_trunc('day', now(), 'UTC'), 1)
      on conflict (agent_id, person) do update set
        minute_runs = case when used.minute_at < excluded.minute_at then 1 else used.minute_runs + 1 end,
        minute_at = greatest(used.minute_at, excluded.minute_at),
        day_runs = case when used.day_at < excluded.day_at then 1 else used.day_runs + 1 end,
        day_at = greatest(used.day_at, excluded.day_at)
      where (used.minute_at < excluded.minute_at or used.minute_runs < ${perMinute})
        and (used.day_at < excluded.day_at or used.day_runs < ${perDay})
      returning 1`;
    if (taken.length > 0) return undefined;
    const [row] = await sql<{ readonly of_day: boolean; readonly minute_left: number; readonly day_left: number }[]>`
      select day_at >= date_trunc('day', now(), 'UTC') and day_runs >= ${perDay} as of_day,
        ceil(extract(epoch from date_trunc('minute', now()) + interval '1 minute' - now()))::int as minute_left,
        ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::int as day_left
      from agent_budgets.runs_of_person where agent_id = ${agentId} and person = ${person}`;
    const isOfDay = row?.of_day === true;
    const left = isOfDay ? row.day_left : (row?.minute_left ?? 1);
    return { span: isOfDay ? 'day' : 'minute', retryAfterSeconds: Math.max(1, left) };
  }

  return {
    async take(agentId, person) {
      try {
        return await take(agentId, personDigest(person));
      } catch (error) {
        if (error instanceof SqlUnavailableError) throw new BudgetsUnavailableError(error);
        throw error;
      }
    },
  };
}

/** Removes the rows of persons who have started no run since the day before. */
export async function removeOldBudgets({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql`delete from agent_budgets.runs_of_person where day_at < date_trunc('day', now(), 'UTC') - interval '1 day'`;
}

/** The table names no person: it is kept when the data of a person is erased elsewhere. */
function personDigest({ issuer, subject }: Subject): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest();
}
