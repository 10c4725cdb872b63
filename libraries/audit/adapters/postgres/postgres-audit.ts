import { type AuditContent, auditContentSchema, auditGenesis, auditHash } from '#contracts/audit';
import { canonicalBytes } from '#contracts/canonical';
import { type Database, type Sql, SqlUnavailableError, type TransactionSql } from '#sql/connect';
import { migrate } from '#sql/migrate';
import { postgresContent, postgresText } from '#sql/postgres-text';
import type { WatchedSchema } from '#sql/watch-tables';
import type { AuditFilter, AuditLog } from '../../ports.ts';
import { type AuditRow, entryOfRow } from './audit-row.ts';

const auditTables = { schema: 'audit', folder: new URL('./migrations/', import.meta.url) } as const;
/** Triggers that keep entries from being changed. */
const triggers = ['entries_append_only', 'entries_not_truncated'];
/** Number of entries that one statement adds or removes. */
const batch = 500;
/** Maximum number of sources that one call removes. */
const mostForgotten = 20 * batch;

type Head = { readonly number: string; readonly hash: string };
type LockedHead = Head & {
  /** Number of the last entry that retention removed. */
  readonly removed_number: string;
};

/**
 * The audit log of a service in PostgreSQL. Migrates its schema first. The caller disposes the database.
 * @param chain name of the service
 * @throws MigrationError, SqlUnavailableError
 */
export async function openPostgresAudit(database: Database, chain: string): Promise<AuditLog> {
  await migrate(database, auditTables);
  await database.sql`
    insert into audit.chains (chain, removed_hash, hash) values (${chain}, ${auditGenesis}, ${auditGenesis})
    on conflict do nothing`;
  return auditLog(database.sql, chain);
}

/**
 * The schema of the audit log of a service. Without its triggers entries could be changed, and without the row of the
 * chain no entry can be added.
 */
export function watchedAudit(chain: string): WatchedSchema {
  return {
    ...auditTables,
    async missingParts(sql) {
      const rows = await sql<{ name: string }[]>`
        select 'audit.entries.' || given as name from unnest(${sql.array(triggers)}::text[]) as given where not exists (
          select from pg_trigger where tgrelid = 'audit.entries'::regclass and tgname = given and tgenabled in ('O', 'A'))
        union all
        select ${`audit.chains.${chain}`}::text where not exists (select from audit.chains where chain = ${chain})
        order by name`;
      return rows.map(({ name }) => name);
    },
  };
}

function auditLog(sql: Sql, chain: string): AuditLog {
  const write = (contents: readonly AuditContent[]) => sql.begin((own) => append(own, chain, contents));
  return {
    append: (own, contents) => append(own, chain, contents),
    write,

    writeOnce: (source, content) =>
      sql.begin(async (own) => {
        const head = await lockHead(own, chain);
        const [added] = await own`
          insert into audit.sources (chain, source) values (${chain}, ${postgresText(source)})
          on conflict do nothing returning source`;
        if (added === undefined) return false;
        await addAfter(own, chain, head, [content], postgresText(source));
        return true;
      }),

    async addSources(sources) {
      if (sources.length === 0) return;
      const rows = sources.map((source) => ({ chain, source: postgresText(source) }));
      await sql`insert into audit.sources ${sql(rows, 'chain', 'source')} on conflict do nothing`;
    },

    async forgetSources(prefix, { days, except }, signal) {
      let removed = 0;
      while (removed < mostForgotten && !signal.aborted) {
        const rows = await sql`
          delete from audit.sources where chain = ${chain} and source in (
            select source from audit.sources where chain = ${chain} and starts_with(source, ${prefix})
              and added_at < clock_timestamp() - ${days} * interval '1 day'
              and not exists (select from unnest(${sql.array(except.map(postgresText))}::text[]) as kept where kept = source)
            order by added_at limit ${batch})
          returning source`;
        removed += rows.length;
        if (rows.length < batch) break;
      }
      return removed;
    },

    async openSources(prefix, closing) {
      const rows = await sql<{ source: string }[]>`
        select source from audit.sources opened where chain = ${chain} and starts_with(source, ${prefix})
          and not exists (
            select from audit.sources where chain = ${chain} and source = ${closing} || substr(opened.source, ${prefix.length + 1}))`;
      return rows.map(({ source }) => source);
    },

    async unknownSources(sources) {
      if (sources.length === 0) return [];
      const rows = await sql<{ source: string }[]>`
        select source from audit.sources where chain = ${chain} and source in ${sql(sources.map(postgresText))}`;
      const known = new Set(rows.map(({ source }) => source));
      return sources.filter((source) => !known.has(postgresText(source)));
    },

    async read({ filter, order, limit, after }) {
      const isNewest = order === 'newest';
      const beyond =
        after === undefined ? sql`` : isNewest ? sql`and position < ${after}` : sql`and position > ${after}`;
      const rows = await sql<AuditRow[]>`
        select position, chain, number, previous, hash, content from audit.entries
        where ${conditions(sql, filter)} ${beyond}
        order by position ${isNewest ? sql`desc` : sql`asc`} limit ${limit + 1}`;
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return { entries: shown.map(entryOfRow), next: rows.length > limit && last !== undefined ? last.position : null };
    },

    async chains() {
      const rows = await sql<(Head & { chain: string; removed_number: string; removed_hash: string })[]>`
        select chain, removed_number, removed_hash, number, hash from audit.chains order by chain`;
      return rows.map((row) => ({
        chain: row.chain,
        removed: { number: Number(row.removed_number), hash: row.removed_hash },
        newest: { number: Number(row.number), hash: row.hash },
      }));
    },

    async retain(before, now) {
      let removed = 0;
      for (;;) {
        const count = await sql.begin((own) => removeOldest(own, chain, before, now));
        removed += count;
        if (count < batch) return removed;
      }
    },
  };
}

async function append(sql: TransactionSql, chain: string, contents: readonly AuditContent[]): Promise<void> {
  if (contents.length === 0) return;
  await addAfter(sql, chain, await lockHead(sql, chain), contents);
}

/** Locks the newest entry of a chain, so that no other transaction can extend the chain until this one ends. */
async function lockHead(sql: TransactionSql, chain: string): Promise<LockedHead> {
  const [head] = await sql<LockedHead[]>`
    select number, hash, removed_number from audit.chains where chain = ${chain} for update`;
  if (head === undefined) throw new SqlUnavailableError('no row of the chain in audit.chains');
  return head;
}

async function addAfter(
  sql: TransactionSql,
  chain: string,
  head: Head,
  contents: readonly AuditContent[],
  source: string | null = null,
): Promise<void> {
  let { number, hash } = { number: Number(head.number), hash: head.hash };
  const rows = contents.map((content) => {
    const entry = {
      chain,
      number: number + 1,
      previous: hash,
      content: auditContentSchema.parse(postgresContent(content)),
    };
    ({ number, hash } = { number: entry.number, hash: auditHash(entry) });
    return { ...entry, hash, content: canonicalBytes(entry.content).toString('utf8'), source };
  });
  await sql`insert into audit.entries ${sql(rows, 'chain', 'number', 'previous', 'hash', 'content', 'source')}`;
  await sql`update audit.chains set number = ${number}, hash = ${hash} where chain = ${chain}`;
}

/**
 * Removes one batch from the start of a chain, and records in the same transaction the number of the last removed
 * entry.
 */
async function removeOldest(sql: TransactionSql, chain: string, before: Date, now: Date): Promise<number> {
  const head = await lockHead(sql, chain);
  const from = Number(head.removed_number);
  // Entries are selected by number only: a search by time would read all expired entries or all kept ones, while every
  // writer waits.
  const oldest = await sql<(Head & { is_expired: boolean })[]>`
    select number, hash, time < ${before.toISOString()} as is_expired from audit.entries
    where chain = ${chain} and number > ${from} and number <= ${from + batch} and number < ${head.number}
    order by number`;
  // Entries are removed from the start of the chain up to the first entry that is kept, so that the rest is still one
  // chain.
  const firstKept = oldest.findIndex((entry) => !entry.is_expired);
  const expired = firstKept === -1 ? oldest : oldest.slice(0, firstKept);
  const last = expired.at(-1);
  if (last === undefined) return 0;
  await sql`select set_config('portcullis.audit_retention', 'on', true)`;
  await sql`delete from audit.entries where chain = ${chain} and number > ${from} and number <= ${last.number}`;
  await sql`
    update audit.chains set removed_number = ${last.number}, removed_hash = ${last.hash} where chain = ${chain}`;
  await addAfter(sql, chain, head, [retention(chain, last.hash, expired.length, now)]);
  return expired.length;
}

/**
 * The entry about a removal: `after.digest` is the hash of the last removed entry, to which the first kept entry
 * refers.
 */
function retention(chain: string, hash: string, count: number, now: Date): AuditContent {
  return {
    time: now.toISOString(),
    action: 'audit.retain',
    outcome: 'succeeded',
    code: null,
    author: { kind: 'service', name: chain },
    client: 'none',
    target: { type: 'audit', id: chain },
    operationId: null,
    traceId: null,
    before: null,
    after: { policyId: null, revision: null, digest: hash },
    count,
    since: null,
  };
}

function conditions(sql: Sql, filter: AuditFilter) {
  const { action, outcome, subject, targetId, operationId, chain, since, until } = filter;
  const optional = (value: string | undefined) => value ?? null;
  return sql`
    (${optional(action)}::text is null or action = ${optional(action)})
    and (${optional(outcome)}::text is null or outcome = ${optional(outcome)})
    and (${optional(subject)}::text is null or subject = ${optional(subject)})
    and (${optional(targetId)}::text is null or target_id = ${optional(targetId)})
    and (${optional(operationId)}::text is null or operation_id = ${optional(operationId)})
    and (${optional(chain)}::text is null or chain = ${optional(chain)})
    and (${optional(since)}::text is null or time >= ${optional(since)})
    and (${optional(until)}::text is null or time < ${optional(until)})`;
}
