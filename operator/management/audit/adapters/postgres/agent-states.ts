import type { AuditLog } from '#audit/ports';
import type { Database } from '#sql/connect';
import type { AgentStates, KnownAgent, ObservedState, RecordedAgent } from '../../ports.ts';

/** PostgreSQL returns a bigint as text. */
type StateRow = { readonly generation: string; readonly state: ObservedState | null };

/** The recorded states of agents in PostgreSQL, in the schema `management`. */
export function createAgentStates({ sql }: Pick<Database, 'sql'>, audit: Pick<AuditLog, 'append'>): AgentStates {
  return {
    async known() {
      const rows = await sql<(Omit<KnownAgent, 'generation'> & Pick<StateRow, 'generation'>)[]>`
        select uid, name, generation from management.observed_agents where not deleted`;
      return rows.map((row) => ({ ...row, generation: Number(row.generation) }));
    },
    async advance({ uid, name, generation, state }, entriesOf) {
      await sql.begin(async (own) => {
        // Without a row, two replicas would have nothing to lock.
        await own`
          insert into management.observed_agents (uid, name, generation) values (${uid}, ${name}, 0)
          on conflict do nothing`;
        const [row] = await own<StateRow[]>`
          select generation, state from management.observed_agents where uid = ${uid} and not deleted for update`;
        if (row === undefined || Number(row.generation) >= generation) return;
        await own`
          update management.observed_agents set generation = ${generation}, state = ${own.json(state)}
          where uid = ${uid}`;
        await audit.append(own, entriesOf(recordedOf(row)));
      });
    },
    async end(uid, entriesOf) {
      await sql.begin(async (own) => {
        const [row] = await own<StateRow[]>`
          select generation, state from management.observed_agents where uid = ${uid} and not deleted for update`;
        if (row === undefined) return;
        await own`update management.observed_agents set deleted = true, state = null where uid = ${uid}`;
        await audit.append(own, entriesOf(recordedOf(row)));
      });
    },
  };
}

function recordedOf({ generation, state }: StateRow): RecordedAgent {
  return { generation: Number(generation), state: state ?? undefined };
}
