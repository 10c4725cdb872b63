import type { AuditLog } from '#audit/ports';
import { type Freeze, freezeLimits } from '#contracts/freezes';
import type { Database } from '#sql/connect';
import { createRightsLock } from '../../../access/lock-rights.ts';
import type { FreezeStore } from '../../freeze-ports.ts';
import { translated } from '../../translated.ts';
import { frozenUntil } from './frozen-until.ts';

type FreezeRow = {
  readonly freeze_id: string;
  readonly target_type: 'policy' | 'model';
  readonly target_id: string;
  readonly starts_at: Date;
  readonly ends_at: Date;
};

/** Freeze windows in PostgreSQL, in the schema `management`. */
export function createFreezeStore({ sql }: Pick<Database, 'sql'>, audit: Pick<AuditLog, 'append'>): FreezeStore {
  const columns = sql`freeze_id, target_type, target_id, starts_at, ends_at`;
  const isOpen = sql`ends_at > clock_timestamp()`;
  const locked = createRightsLock({ sql });

  return {
    list: () =>
      translated(async () => {
        const rows = await sql<FreezeRow[]>`
          select ${columns} from management.freezes where ${isOpen} order by starts_at, freeze_id`;
        return rows.map(freezeOfRow);
      }),
    add: ({ id, target, startsAt, endsAt }, { isAllowed, entry }) =>
      translated(() =>
        // Windows are added one at a time while a lock is held, so that the limit also applies to concurrent additions.
        locked(async (transaction) => {
          if (!(await isAllowed())) return 'not_allowed';
          await transaction`delete from management.freezes where not (${isOpen})`;
          const added = await transaction`
            insert into management.freezes (${columns})
            select ${id}, ${target.type}, ${target.id}, ${startsAt}, ${endsAt}
            where (select count(*) from management.freezes) < ${freezeLimits.windows}
            returning freeze_id`;
          if (added.length > 0) await audit.append(transaction, [entry]);
          return added.length > 0 ? 'added' : 'full';
        }),
      ),
    remove: (id, { isAllowed, entryOf }) =>
      translated(() =>
        locked(async (transaction) => {
          if (!(await isAllowed())) return 'not_allowed';
          const [row] = await transaction<FreezeRow[]>`
            delete from management.freezes where freeze_id = ${id} and ${isOpen} returning ${columns}`;
          if (row === undefined) return 'unknown';
          const freeze = freezeOfRow(row);
          await audit.append(transaction, [entryOf(freeze)]);
          return freeze;
        }),
      ),
    inForce: (objects) => translated(() => frozenUntil(sql, objects)),
    frozenUntil: (operationId) =>
      translated(async () => {
        const [row] = await sql<{ objects: readonly string[] | null }[]>`
          select objects from management.operations where operation_id = ${operationId} and not overrides_freeze`;
        return frozenUntil(sql, row?.objects ?? []);
      }),
  };
}

function freezeOfRow(row: FreezeRow): Freeze {
  return {
    id: row.freeze_id,
    target: { type: row.target_type, id: row.target_id },
    startsAt: row.starts_at.toISOString(),
    endsAt: row.ends_at.toISOString(),
  };
}
