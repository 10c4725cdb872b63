import { type AuditContent, auditContentSchema } from '#contracts/audit';
import type { Database, TransactionSql } from '#sql/connect';
import { takeNamedLock, takeNamedLockIfFree } from '#sql/named-lock';
import type { Relations, Tuple } from '../ports.ts';
import { RelationsModelError } from '../relations-error.ts';
import { tupleText } from '../tuple.ts';

export type RecordPorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly relations: Pick<Relations, 'grant' | 'revoke' | 'tuplesOf' | 'joinsTransactions'>;
  /** The audit log of the service. */
  readonly audit: { append(sql: TransactionSql, entries: readonly AuditContent[]): Promise<void> };
};

/** The table in which a service stores its changes, and which changes are made one at a time. */
export type ChangeRecord = {
  /** The table with the columns change_id uuid, object, relation, subject, action, entry as JSON, created_at. */
  readonly table: string;
  /** The name of the lock of an object. Several objects may share a lock. */
  readonly lockOf: (object: string) => string;
  /** The code of the entry of a change that was not made. */
  readonly failureCode: string;
  /** Called once for a change that a newer release stored. That release settles the change. */
  readonly onUnreadable: (changeId: string) => void;
};

/**
 * Longest time from when a change is stored until the store of rights has executed or refused each copy of it, seconds. A younger
 * change may be in progress, although its lock is free: its process may have lost the lock.
 */
const longestSeconds = 30;
/** Number of rows that one statement reads. */
const batch = 100;
/** Maximum number of changes of newer releases that a process reports. */
const mostReported = 1_000;
const beforeEach = '00000000-0000-0000-0000-000000000000';

export type StoredChange = Tuple & { readonly action: 'grant' | 'revoke' };
type Row = StoredChange & { readonly changeId: string; readonly entry: string };
type ReadableRow = StoredChange & { readonly changeId: string; readonly entry: AuditContent };

/** Rows that were stored before a time, of one object or of all objects. */
type Part = { readonly before: string; readonly object?: string };

type LeftChanges = {
  /** The time before which changes are settled, by the clock of the database. */
  before(): Promise<string>;
  /** Settles the changes of an object that were stored before a time; waits for the lock of the object. */
  settle(object: string, before: string): Promise<void>;
  /** Settles the changes of every object whose lock is free. */
  settleAll(): Promise<void>;
  /** The changes of an object that were stored at a time or later. */
  since(sql: TransactionSql, object: string, before: string): Promise<readonly StoredChange[]>;
};

/**
 * The changes of rights that were left without an entry: by a killed process, or by a store that did not answer. To settle them
 * removes their rows and adds their entries: accepted where the store shows that the change was made, otherwise failed.
 */
export function createLeftChanges({ database, relations, audit }: RecordPorts, record: ChangeRecord): LeftChanges {
  const { table, lockOf, failureCode, onUnreadable } = record;
  const reported = new Set<string>();

  function readableOf(rows: readonly Row[]): readonly ReadableRow[] {
    return rows.flatMap((row) => {
      const entry = readEntry(row.entry);
      if (entry !== undefined) return [{ ...row, entry }];
      if (!reported.has(row.changeId) && reported.size < mostReported) {
        reported.add(row.changeId);
        onUnreadable(row.changeId);
      }
      return [];
    });
  }

  /** The rows are read in pages, so that rows of newer releases, however many, do not hide others. */
  async function* pagesOf(
    sql: Database['sql'] | TransactionSql,
    { before, object }: Part,
  ): AsyncGenerator<readonly ReadableRow[]> {
    let after = beforeEach;
    for (;;) {
      const rows = await sql<Row[]>`
        select change_id as "changeId", object, relation, subject, action, entry from ${sql(table)}
        where created_at < ${before}::text::timestamptz and change_id > ${after}::uuid
          ${object === undefined ? sql`` : sql`and object = ${object}`}
        order by change_id limit ${batch}`;
      const last = rows.at(-1);
      if (last === undefined) return;
      yield readableOf(rows);
      if (rows.length < batch) return;
      after = last.changeId;
    }
  }

  async function hasReadable(part: Part): Promise<boolean> {
    for await (const rows of pagesOf(database.sql, part)) if (rows.length > 0) return true;
    return false;
  }

  /** Settles changes while the lock is held. @returns whether there may be more */
  async function settleSome(sql: TransactionSql, part: Part & { readonly object: string }): Promise<boolean> {
    const left: ReadableRow[] = [];
    for await (const rows of pagesOf(sql, part)) {
      left.push(...rows);
      if (left.length >= batch) break;
    }
    if (left.length === 0) return false;
    const held = new Set((await relations.tuplesOf(part.object)).map(tupleText));
    const entries = left.map((row): AuditContent => {
      const isMade = held.has(tupleText(row)) === (row.action === 'grant');
      return isMade ? row.entry : { ...row.entry, outcome: 'failed', code: failureCode };
    });
    await sql`delete from ${sql(table)} where change_id in ${sql(left.map((row) => row.changeId))}`;
    await audit.append(sql, entries);
    return left.length >= batch;
  }

  async function before(): Promise<string> {
    const [row] = await database.sql<{ before: string }[]>`
      select (clock_timestamp() - make_interval(secs => ${longestSeconds}))::text as before`;
    if (row === undefined) throw new TypeError('a select without a table has one row');
    return row.before;
  }

  return {
    before,
    async settle(object, time) {
      const part = { object, before: time };
      let hasMore = await hasReadable(part);
      while (hasMore) {
        hasMore = await database.sql.beginOnce(async (sql) => {
          await takeNamedLock(sql, lockOf(object));
          return settleSome(sql, part);
        });
      }
    },
    async settleAll() {
      const time = await before();
      let failure: unknown;
      for await (const rows of pagesOf(database.sql, { before: time })) {
        for (const object of new Set(rows.map((row) => row.object))) {
          try {
            await settleIfFree({ object, before: time });
          } catch (error) {
            // The object has too many tuples; every other error concerns all objects.
            if (!(error instanceof RelationsModelError)) throw error;
            failure ??= error;
          }
        }
      }
      if (failure !== undefined) throw failure;
    },
    since: (sql, object, time) => sql<StoredChange[]>`
      select object, relation, subject, action from ${sql(table)}
      where object = ${object} and created_at >= ${time}::text::timestamptz`,
  };

  async function settleIfFree(part: Part & { readonly object: string }): Promise<void> {
    // This read comes before the lock is taken, so that the lock stays free while the store does not answer.
    await relations.tuplesOf(part.object);
    let hasMore = true;
    while (hasMore) {
      hasMore = await database.sql.beginOnce(
        async (sql) => (await takeNamedLockIfFree(sql, lockOf(part.object))) && settleSome(sql, part),
      );
    }
  }
}

/** Parses an audit entry; undefined for an entry that a newer release wrote. */
function readEntry(text: string): AuditContent | undefined {
  try {
    return auditContentSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
