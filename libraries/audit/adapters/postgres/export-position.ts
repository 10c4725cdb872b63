import type { AuditEntry } from '#contracts/audit';
import type { Database } from '#sql/connect';
import type { AuditReceiverName, ExportPosition } from '../../ports.ts';
import { type AuditRow, entryOfRow } from './audit-row.ts';

/**
 * The position of a receiver in the chain of a service, next to the audit log (openPostgresAudit). Numbers of a chain
 * are contiguous in the order of commits, so no entry is committed before a stored position.
 * @param holder names this process
 */
export function createExportPosition(
  { sql }: Pick<Database, 'sql'>,
  {
    receiver,
    chain,
    holder,
  }: { readonly receiver: AuditReceiverName; readonly chain: string; readonly holder: string },
): ExportPosition {
  return {
    async claim(leaseMs) {
      const [row] = await sql<{ number: string; removed_number: string }[]>`
        insert into audit.exports as e (receiver, chain, holder, leased_until)
        values (${receiver}, ${chain}, ${holder}, now() + ${leaseMs} * interval '1 millisecond')
        on conflict (receiver, chain) do update set holder = excluded.holder, leased_until = excluded.leased_until
        where e.holder is null or e.holder = ${holder} or e.leased_until < now()
        returning number, (select removed_number from audit.chains where chain = ${chain})`;
      if (row === undefined) return undefined;
      const [number, gone] = [Number(row.number), Number(row.removed_number)];
      return { number: Math.max(number, gone), removed: Math.max(0, gone - number) };
    },

    async after(number, limit): Promise<readonly AuditEntry[]> {
      const rows = await sql<AuditRow[]>`
        select position, chain, number, previous, hash, content from audit.entries
        where chain = ${chain} and number > ${number} order by number limit ${limit}`;
      return rows.map(entryOfRow);
    },

    async advance(from, to) {
      await sql`
        update audit.exports set number = ${to}
        where receiver = ${receiver} and chain = ${chain} and holder = ${holder} and number <= ${from}`;
    },

    async release() {
      await sql`
        update audit.exports set holder = null
        where receiver = ${receiver} and chain = ${chain} and holder = ${holder}`;
    },

    async oldestWaiting() {
      const [row] = await sql<{ time: string }[]>`
        select time from audit.entries where chain = ${chain} and number > coalesce(
          (select number from audit.exports where receiver = ${receiver} and chain = ${chain}), 0)
        order by number limit 1`;
      return row?.time;
    },
  };
}
