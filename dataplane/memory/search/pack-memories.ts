import { Turns } from '#kit/concurrency/turns';
import { packSegmentInTurns } from '#search/adapters/packed/pack-segment';
import { PackedSegment } from '#search/adapters/packed/packed-segment';
import { type OpenedSegment, planRepack, smallSegment } from '#search/adapters/packed/plan-repack';
import { rowsOfSegment, segmentMark } from '#search/adapters/packed/segment-layout';
import type { IndexEntry } from '#search/ports';
import type { Database, TransactionSql } from '#sql/connect';
import { changesOfPacking } from '../people/wait-for-packing.ts';
import { type EntryRow, entryColumns, memoryEntryOf } from './memory-entry.ts';
import { insertSegment, type NewSegment, readSegments } from './segment-rows.ts';

/** Maximum number of changed memories in one packing. */
const changesAtOnce = rowsOfSegment;
/** The first bytes of a segment of this layout, Base64. */
const markOfSegment = Buffer.from(Uint32Array.of(segmentMark).buffer).toString('base64');

type Packed = { readonly person: string; readonly segments: number };
type Waiting = {
  readonly person: string;
  readonly change_no: string;
  readonly packed_through: string;
  readonly forgotten_through: string;
};
/** A person who was erased after the packing was requested. */
type Erased = { readonly person: string; readonly change_no: null };
type ChangedRow = EntryRow & { readonly change_no: string; readonly is_deleted: boolean };

/**
 * Packs changed memories of one waiting person into segments, so that a first search reads all of them at once. The
 * person is locked for the last write only, and nothing is written if memories were removed meanwhile. A failure delays
 * this person by a minute, so that other waiting persons are packed first.
 * @param key the key of the vectors (`vectorsKey`); undefined without a profile
 * @returns undefined if no person is waiting
 */
export async function packMemories(database: Database, key: string | undefined): Promise<Packed | undefined> {
  let taken: string | undefined;
  try {
    return await database.sql.begin(async (sql) => {
      const waiting = await nextWaiting(sql);
      taken = waiting?.person;
      return waiting === undefined ? undefined : await packPerson(sql, waiting, key);
    });
  } catch (error) {
    // If delaying fails for the same reason, the failure of the packing is reported, not that of the delay.
    if (taken !== undefined) await delayPacking(database, taken).catch(() => undefined);
    throw error;
  }
}

async function nextWaiting(sql: TransactionSql): Promise<Waiting | Erased | undefined> {
  const [waiting] = await sql<(Waiting | Erased)[]>`
    select w.person, p.change_no, p.packed_through, p.forgotten_through
    from memory.packing w left join memory.people p using (person)
    where w.retry_at <= clock_timestamp()
    order by w.retry_at, w.person limit 1 for update of w skip locked`;
  return waiting;
}

async function delayPacking({ sql }: Database, person: string): Promise<void> {
  await sql`
    update memory.packing set retry_at = clock_timestamp() + interval '1 minute' where person = ${person}`;
}

async function packPerson(sql: TransactionSql, waiting: Waiting | Erased, key: string | undefined): Promise<Packed> {
  const { person } = waiting;
  if (waiting.change_no === null) {
    await sql`delete from memory.packing where person = ${person}`;
    return { person, segments: 0 };
  }
  const isOther = await hasOtherSegments(sql, person, key);
  const after = isOther ? '0' : waiting.packed_through;
  const changed = await changedRows(sql, person, { after, key });
  const isLast = changed.length < changesAtOnce;
  const upTo = isLast ? waiting.change_no : (changed.at(-1) as ChangedRow).change_no;
  const stored = isOther ? [] : await storedSegments(sql, person, changed.some(mayBeStored));
  const plan = planRepack(
    stored,
    changed.map(({ memory_id }) => memory_id),
  );
  const kept = await unchangedRows(sql, person, { groups: plan.groups, upTo, key });
  const segments = await packRows([...kept, ...changed.filter(({ is_deleted }) => !is_deleted)]);
  const [begun] = await sql`
      update memory.people set packed_through = ${upTo} where person = ${person}
        and packed_through = ${waiting.packed_through} and forgotten_through = ${waiting.forgotten_through}
      returning person`;
  // The person was changed meanwhile: the next run reads the rows again.
  if (begun === undefined) return { person, segments: 0 };
  if (isOther) await sql`delete from memory.segments where person = ${person}`;
  await sql`
      delete from memory.segments where person = ${person} and segment = any(${sql.array([...plan.replaced], 23)}::int[])`;
  for (const [number, ended] of plan.ended) {
    await sql`
        update memory.segments set ended = ${sql.array([...ended], 23)}::int[]
        where person = ${person} and segment = ${number}`;
  }
  for (const segment of segments) await insertSegment(sql, person, { ...segment, vectorsKey: key });
  if (BigInt(waiting.change_no) - BigInt(upTo) < changesOfPacking) {
    await sql`delete from memory.packing where person = ${person}`;
  }
  return { person, segments: segments.length };
}

/** A new memory is in no segment yet. */
function mayBeStored({ version, is_deleted }: ChangedRow): boolean {
  return version > 1 || is_deleted;
}

/** Whether segments have vectors of another profile, or the layout of another release. */
async function hasOtherSegments(sql: TransactionSql, person: string, key: string | undefined): Promise<boolean> {
  const [row] = await sql`
    select 1 from memory.segments s join memory.segment_parts d using (person, segment)
    where s.person = ${person} and d.part = 0
      and (s.profile_id is distinct from ${key ?? null}::text
        or substr(decode(left(d.data, 8), 'base64'), 1, 4) <> decode(${markOfSegment}, 'base64'))
    limit 1`;
  return row !== undefined;
}

async function changedRows(
  sql: TransactionSql,
  person: string,
  { after, key }: { readonly after: string; readonly key: string | undefined },
): Promise<readonly ChangedRow[]> {
  return sql<ChangedRow[]>`
    select ${entryColumns(sql, key)}, change_no, deleted_at is not null as is_deleted from memory.memories
    where person = ${person} and change_no > ${after}::bigint
    order by change_no fetch first ${changesAtOnce} rows with ties`;
}

/** Packs the rows in several turns of the event loop, because searches of the same process wait meanwhile. */
async function packRows(rows: readonly EntryRow[]): Promise<readonly Omit<NewSegment, 'vectorsKey'>[]> {
  const turns = new Turns();
  const entries: IndexEntry[] = [];
  for (const row of rows) {
    if (turns.isOver()) await turns.next();
    entries.push(memoryEntryOf(row));
  }
  const segments: Omit<NewSegment, 'vectorsKey'>[] = [];
  for (let from = 0; from < entries.length; from += rowsOfSegment) {
    const own = entries.slice(from, from + rowsOfSegment);
    segments.push({ rows: own.length, bytes: await packSegmentInTurns(own, turns) });
  }
  return segments;
}

/**
 * The rows of groups in their current state, without those that changed later: they are among the changes after `upTo`.
 */
async function unchangedRows(
  sql: TransactionSql,
  person: string,
  {
    groups,
    upTo,
    key,
  }: { readonly groups: readonly string[]; readonly upTo: string; readonly key: string | undefined },
): Promise<readonly EntryRow[]> {
  if (groups.length === 0) return [];
  return sql<EntryRow[]>`
    select ${entryColumns(sql, key)} from memory.memories
    where person = ${person} and deleted_at is null and change_no <= ${upTo}::bigint
      and memory_id = any(${sql.array([...groups])}::uuid[])`;
}

/** The small segments, which are packed again; all of them if changed memories may be in any. */
async function storedSegments(sql: TransactionSql, person: string, all: boolean): Promise<readonly OpenedSegment[]> {
  const found = await readSegments(sql, person, { liveBelow: all ? undefined : smallSegment });
  return (found?.segments ?? []).map(({ number, bytes, ended }) => ({
    number,
    segment: new PackedSegment(bytes),
    ended,
  }));
}
