import type { AuditLog } from '#audit/ports';
import type { Database } from '#sql/connect';
import type { Quotas } from '../../../policies/quotas.ts';
import { objectsOf } from '../../approval-demand.ts';
import { acceptedEntries, endedEntry } from '../../command-origin.ts';
import type { OperationStore } from '../../ports.ts';
import { translated } from '../../translated.ts';
import { exceededQuota, lockSaves } from './find-room.ts';
import { frozenUntil } from './frozen-until.ts';
import {
  type OpenOperationRow,
  type OperationRow,
  openOperationOfRow,
  operationColumns,
  operationOfRow,
  readableRows,
} from './operation-rows.ts';
import { useApproval } from './use-approval.ts';

/** Retention of an idempotency key, and of an ended operation. */
const keyDays = 7;
const operationDays = 30;
/** How long the process that wrote a policy has to record its revision before recovery records it, milliseconds. */
const recordingMs = 3_000;

/**
 * Operations in PostgreSQL, in the schema `management`, over one pool, which the audit log of this service shares.
 * @param onUnreadable is called with the id of an open operation whose row cannot be read, each time that it is skipped
 */
export function createOperationStore(
  { sql }: Pick<Database, 'sql'>,
  audit: Pick<AuditLog, 'append'>,
  quotas: Pick<Quotas, 'exceededBy' | 'unseenMs'>,
  onUnreadable: (operationId: string) => void,
): OperationStore {
  const columns = operationColumns(sql);
  /** The time in whole milliseconds, the precision of API answers. */
  const now = sql`date_trunc('milliseconds', clock_timestamp())`;
  /** The end of a lease in microseconds: each claim is later than the lease before it. */
  const lease = sql`extract(epoch from leased_until)::text`;

  return wrapped({
    async findKey(subject, key) {
      const [row] = await sql<(OperationRow & { readonly fingerprint: string })[]>`
        select held.fingerprint, ${columns}
        from management.idempotency_keys held join management.operations using (operation_id)
        where held.subject = ${subject} and held.key = ${key}`;
      return row === undefined ? undefined : { fingerprint: row.fingerprint, record: operationOfRow(row) };
    },

    async begin(command, leaseMs) {
      const { operationId, kind, target, traceId, write, origin, subject, key, fingerprint, saving } = command;
      const objects = objectsOf(command.approval);
      return sql.begin(async (transaction) => {
        const until = await frozenUntil(transaction, objects);
        if (until !== undefined && !command.overridesFreeze) return { kind: 'frozen', until };
        if (saving?.needsRoom === true) await lockSaves(transaction);
        const [row] = await transaction<(OperationRow & { readonly lease: string })[]>`
          insert into management.operations
            (operation_id, kind, state, target_type, target_id, trace_id, write, origin, objects, overrides_freeze,
             saved_bytes, leased_until, created_at, updated_at)
          select ${operationId}, ${kind}, 'pending', ${target.type}, ${target.id}, ${traceId}, ${JSON.stringify(write)},
            ${JSON.stringify(origin)}, ${sql.array([...objects])}::text[], ${until !== undefined},
            ${saving?.bytes ?? null}, clock_timestamp() + ${leaseMs} * interval '1 millisecond', moment, moment
          from (select ${now} as moment) as clock
          where not exists (
            select from management.idempotency_keys where subject = ${subject} and key = ${key})
          returning ${columns}, ${lease} as lease`;
        if (row === undefined) return { kind: 'taken' };
        const [taken] = await transaction`
          insert into management.idempotency_keys (subject, key, fingerprint, operation_id, created_at)
          values (${subject}, ${key}, ${fingerprint}, ${operationId}, ${row.created_at})
          on conflict (subject, key) do nothing
          returning operation_id`;
        const code = taken === undefined ? undefined : await exceededQuota(transaction, command, quotas);
        const isApproved = taken !== undefined && code === undefined && (await useApproval(transaction, command));
        if (isApproved) return { kind: 'begun', record: operationOfRow(row), lease: row.lease };
        await transaction`delete from management.operations where operation_id = ${operationId}`;
        if (code !== undefined) return { kind: 'full', code };
        return { kind: taken === undefined ? 'taken' : 'unapproved' };
      });
    },

    async accept(operationId, { uid, generation }) {
      return sql.begin(async (transaction) => {
        const [before] = await transaction<{ accepted: boolean }[]>`
          select accepted from management.operations where operation_id = ${operationId} for update`;
        const [row] = await transaction<OperationRow[]>`
          update management.operations set
            state = case when state = 'pending' or failure_code = 'not_executed' then 'running' else state end,
            failure_code = case when failure_code = 'not_executed' then null else failure_code end,
            failure_message = case when failure_code = 'not_executed' then null else failure_message end,
            leased_until = least(leased_until, clock_timestamp() + ${recordingMs} * interval '1 millisecond'),
            accepted = true, written_uid = ${uid}, written_generation = ${generation},
            updated_at = case when accepted then updated_at else ${now} end
          where operation_id = ${operationId} and (failure_code is distinct from 'not_executed' or write is not null)
          returning ${columns}`;
        if (row === undefined) return undefined;
        const record = operationOfRow(row);
        if (before?.accepted === false) await audit.append(transaction, acceptedEntries(record));
        return record;
      });
    },

    async withdraw(operationId, held) {
      const rows = await sql`
        delete from management.operations where operation_id = ${operationId} and not accepted and ${lease} = ${held}
        returning operation_id`;
      return rows.length > 0;
    },

    async finish(operationId, end) {
      const result = end.kind === 'succeeded' ? JSON.stringify(end.result) : null;
      const code = end.kind === 'failed' ? end.code : null;
      const message = end.kind === 'failed' ? end.message : null;
      const cause = end.kind === 'failed' ? (end.cause ?? null) : null;
      // The row and the key are written in one transaction, so that a process that is killed leaves no key of a command
      // that was never executed.
      return sql.begin(async (transaction) => {
        const [row] = await transaction<OperationRow[]>`
          update management.operations set
            state = ${end.kind}, result = ${result}, failure_code = ${code}, failure_message = ${message},
            failure_cause = ${cause},
            write = case when ${code}::text = 'not_executed' then write else null end, updated_at = ${now}
          where operation_id = ${operationId} and state in ('pending', 'running')
          returning ${columns}`;
        if (row === undefined) return false;
        if (!row.accepted) {
          await transaction`delete from management.idempotency_keys where operation_id = ${operationId}`;
        }
        await audit.append(transaction, [endedEntry(operationOfRow(row), end)]);
        return true;
      });
    },

    async get(operationId) {
      const [row] = await sql<OperationRow[]>`
        select ${columns} from management.operations where operation_id = ${operationId}`;
      return row === undefined ? undefined : operationOfRow(row);
    },

    async getOpen(operationId) {
      const [row] = await sql<OpenOperationRow[]>`
        select ${columns}, write from management.operations
        where operation_id = ${operationId} and state in ('pending', 'running')`;
      return row === undefined ? undefined : openOperationOfRow(row);
    },

    async claim(limit, leaseMs) {
      const rows = await sql<(OpenOperationRow & { readonly age_ms: number })[]>`
        update management.operations set leased_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        where operation_id in (
          select operation_id from management.operations
          where state in ('pending', 'running') and leased_until < clock_timestamp()
            and (not accepted or target_type = 'policy')
          order by created_at limit ${limit} for update skip locked)
        returning ${columns}, write,
          (extract(epoch from clock_timestamp() - operations.created_at) * 1000)::float8 as age_ms`;
      const ages = new Map(rows.map((row) => [row.operation_id, row.age_ms]));
      return readableRows(rows, onUnreadable)
        .map((record) => ({ ...record, ageMs: ages.get(record.operationId) ?? 0 }))
        .toSorted((a, b) => b.ageMs - a.ageMs);
    },

    async openOnModels(modelIds, limit) {
      const only = modelIds === 'all' ? sql`` : sql`and target_id in ${sql([...modelIds])}`;
      if (modelIds !== 'all' && modelIds.length === 0) return [];
      const rows = await sql<OpenOperationRow[]>`
        select ${columns}, write from management.operations
        where state in ('pending', 'running') and accepted and target_type = 'model' ${only}
        order by created_at limit ${limit}`;
      return readableRows(rows, onUnreadable);
    },

    async undecided() {
      const rows = await sql<{ operation_id: string }[]>`
        select operation_id from management.operations
        where state = 'pending' and not accepted and leased_until > clock_timestamp()`;
      return rows.map((row) => row.operation_id);
    },

    async prune() {
      await sql`delete from management.idempotency_keys k using management.operations o
        where o.operation_id = k.operation_id and o.state in ('succeeded', 'failed')
          and k.created_at < clock_timestamp() - ${keyDays} * interval '1 day'`;
      await sql`delete from management.operations
        where state in ('succeeded', 'failed') and updated_at < clock_timestamp() - ${operationDays} * interval '1 day'`;
    },
  });
}

function wrapped(store: OperationStore): OperationStore {
  const translate = <A extends readonly unknown[], T>(method: (...args: A) => Promise<T>) => {
    return (...args: A): Promise<T> => translated(() => method(...args));
  };
  return {
    findKey: translate(store.findKey),
    begin: translate(store.begin),
    accept: translate(store.accept),
    withdraw: translate(store.withdraw),
    finish: translate(store.finish),
    get: translate(store.get),
    getOpen: translate(store.getOpen),
    claim: translate(store.claim),
    openOnModels: translate(store.openOnModels),
    undecided: translate(store.undecided),
    prune: translate(store.prune),
  };
}
