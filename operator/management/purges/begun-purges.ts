import { v7 as uuid } from 'uuid';
import type { AuditLog } from '#audit/ports';
import { type AuditContent, auditContentSchema } from '#contracts/audit';
import type { Database, TransactionSql } from '#sql/connect';

/** Longest time from the storage of a purge to its end, seconds. A purge that was stored later may be in progress. */
const longestSeconds = 30;
/**
 * Number of purges that are settled in one transaction: each is a request to the server of the resources while the lock
 * is held.
 */
const mostSettled = 3;
/** Number of rows that one statement reads. */
const batch = 100;
/** Maximum number of purges of newer releases that a process reports. */
const mostReported = 1_000;
const beforeEach = '00000000-0000-0000-0000-000000000000';

/** A purge whose text may have been removed. The audit entry has the time of the purge. */
export type BegunPurge = {
  readonly purgeId: string;
  /** The name of the PolicyRevision. */
  readonly revision: string;
  readonly entry: AuditContent;
};

type BegunRow = { readonly purge_id: string; readonly revision: string; readonly entry: string };

/** Purges that have no entry in the audit log yet. Every method throws SqlUnavailableError or SqlStatementError. */
export type BegunPurges = {
  /** Stores a purge before the text is removed, so that it is recorded even if the process dies afterwards. */
  begin(revision: string, entry: AuditContent): Promise<BegunPurge>;
  /** Whether a purge with this time has no entry yet. `time` is ISO 8601 in UTC with milliseconds. */
  isOpen(revision: string, time: string): Promise<boolean>;
  /** Removes purges and adds their entries, as the last statements of a transaction. */
  end(sql: TransactionSql, ended: readonly BegunPurge[]): Promise<void>;
  /** The oldest purges, at most 3, that a killed process left, or that got no answer. */
  left(): Promise<readonly BegunPurge[]>;
};

/** @param onUnreadable called once for a row that a newer release wrote, which that release settles */
export function createBegunPurges(
  { sql }: Pick<Database, 'sql'>,
  audit: Pick<AuditLog, 'append'>,
  onUnreadable: (purgeId: string) => void,
): BegunPurges {
  const reported = new Set<string>();

  function readable({ purge_id: purgeId, revision, entry }: BegunRow): readonly BegunPurge[] {
    const content = readEntry(entry);
    if (content !== undefined) return [{ purgeId, revision, entry: content }];
    if (!reported.has(purgeId) && reported.size < mostReported) {
      reported.add(purgeId);
      onUnreadable(purgeId);
    }
    return [];
  }

  return {
    async begin(revision, entry) {
      const purgeId = uuid();
      await sql`
        insert into management.purges (purge_id, revision, purge_time, entry)
        values (${purgeId}, ${revision}, ${entry.time}, ${JSON.stringify(entry)})`;
      return { purgeId, revision, entry };
    },
    async isOpen(revision, time) {
      const rows = await sql`
        select from management.purges where revision = ${revision} and purge_time = ${time} limit 1`;
      return rows.length > 0;
    },
    async end(transaction, ended) {
      const ids = ended.map(({ purgeId }) => purgeId);
      const rows = await transaction<{ purge_id: string }[]>`
        delete from management.purges where purge_id in ${transaction(ids)} returning purge_id`;
      const removed = new Set(rows.map(({ purge_id }) => purge_id));
      const entries = ended.filter(({ purgeId }) => removed.has(purgeId)).map(({ entry }) => entry);
      await audit.append(transaction, entries);
    },
    async left() {
      const found: BegunPurge[] = [];
      // The rows are read in pages, so that rows of newer releases, however many, do not hide others.
      for (let after = beforeEach; found.length < mostSettled; ) {
        const rows = await sql<BegunRow[]>`
          select purge_id, revision, entry from management.purges
          where created_at < clock_timestamp() - make_interval(secs => ${longestSeconds}) and purge_id > ${after}::uuid
          order by purge_id limit ${batch}`;
        found.push(...rows.flatMap(readable));
        const last = rows.at(-1);
        if (last === undefined || rows.length < batch) break;
        after = last.purge_id;
      }
      return found.slice(0, mostSettled);
    },
  };
}

/** Parses an audit entry; undefined for an entry that a newer release wrote. */
function readEntry(text: string): AuditContent | undefined {
  try {
    return auditContentSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
