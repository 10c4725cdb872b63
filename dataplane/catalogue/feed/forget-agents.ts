import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Database, TransactionSql } from '#sql/connect';

/** How long a removed agent is listed as removed before its row is deleted. */
const kept = '30 days';
/** Maximum number of agents in one transaction. */
const batch = 100;

type ForgetOptions = {
  readonly database: Pick<Database, 'sql'>;
  readonly logger: Logger;
  readonly pollMs: number;
};

/** Deletes the stored data of agents that were removed long ago and that no stored event is about. */
export function forgetAgents({ database, logger, pollMs }: ForgetOptions): WorkLoop {
  return startWorkLoop(
    async () => {
      try {
        return (await database.sql.begin(forgetSome)) === batch;
      } catch (error) {
        logger.warn('forget_failed', { failure: describeFailure(error) });
        return false;
      }
    },
    { pollMs },
  );
}

/**
 * Deletes removed agents. The locks are taken in the same order as by a change of an agent: agents, workspaces by name,
 * entries.
 * @returns the number of agents whose rows were deleted
 */
async function forgetSome(sql: TransactionSql): Promise<number> {
  const agents = await sql<{ agent_id: string }[]>`
    select agent_id from catalogue.agents
    where state = 'removed' and updated_at < clock_timestamp() - ${kept}::interval
      and not exists (select from catalogue.outbox where outbox.agent_id = agents.agent_id)
    order by updated_at limit ${batch} for update skip locked`;
  if (agents.length === 0) return 0;
  const ids = sql`${sql.array(agents.map((agent) => agent.agent_id))}::uuid[]`;
  await sql`
    select from catalogue.workspaces
    where workspace in (select workspace from catalogue.entries where agent_id = any(${ids}))
    order by workspace for update`;
  await sql`
    update catalogue.workspaces set forgotten_through = greatest(forgotten_through, ended.change_no)
    from (select workspace, max(change_no) as change_no from catalogue.entries where agent_id = any(${ids}) group by 1) as ended
    where workspaces.workspace = ended.workspace`;
  await sql`delete from catalogue.entries where agent_id = any(${ids})`;
  await sql`
    with ended as (delete from catalogue.agents where agent_id = any(${ids}) returning event_no)
    update catalogue.forgotten set event_no = greatest(forgotten.event_no, (select max(event_no) from ended))`;
  return agents.length;
}
