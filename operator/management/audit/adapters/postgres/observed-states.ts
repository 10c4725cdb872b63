import type { AuditLog } from '#audit/ports';
import type { Database, TransactionSql } from '#sql/connect';
import type { KnownObject, ObservedStates, RecordedState } from '../../ports.ts';

/** PostgreSQL returns a bigint as text. */
type StateRow<S> = { readonly generation: string; readonly state: S | null };

/** The recorded states of the objects of one kind in PostgreSQL, in a table of the schema `management`. */
export function createObservedStates<S extends Parameters<TransactionSql['json']>[0]>(
  { sql }: Pick<Database, 'sql'>,
  audit: Pick<AuditLog, 'append'>,
  name: 'observed_agents' | 'observed_bindings',
): ObservedStates<S> {
  const table = sql(`management.${name}`);
  return {
    async known() {
      const rows = await sql<(Omit<KnownObject, 'generation'> & Pick<StateRow<S>, 'generation'>)[]>`
        select uid, name, generation from ${table} where not deleted`;
      return rows.map((row) => ({ ...row, generation: Number(row.generation) }));
    },
    async advance({ uid, name: objectName, generation, state }, entriesOf) {
      await sql.begin(async (own) => {
        // Without a row, two replicas would have nothing to lock.
        await own`
          insert into ${table} (uid, name, generation) values (${uid}, ${objectName}, 0) on conflict do nothing`;
        const [row] = await own<StateRow<S>[]>`
          select generation, state from ${table} where uid = ${uid} and not deleted for update`;
        if (row === undefined || Number(row.generation) >= generation) return;
        await own`update ${table} set generation = ${generation}, state = ${own.json(state)} where uid = ${uid}`;
        await audit.append(own, entriesOf(recordedOf(row)));
      });
    },
    async end(uid, entriesOf) {
      await sql.begin(async (own) => {
        const [row] = await own<StateRow<S>[]>`
          select generation, state from ${table} where uid = ${uid} and not deleted for update`;
        if (row === undefined) return;
        await own`update ${table} set deleted = true, state = null where uid = ${uid}`;
        await audit.append(own, entriesOf(recordedOf(row)));
      });
    },
  };
}

function recordedOf<S>({ generation, state }: StateRow<S>): RecordedState<S> {
  return { generation: Number(generation), state: state ?? undefined };
}
