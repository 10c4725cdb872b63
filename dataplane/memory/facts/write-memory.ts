import { isDeepStrictEqual } from 'node:util';
import type { TransactionSql } from '#sql/connect';
import { hashOf, samenessOf } from '../extraction/sameness.ts';
import { isLive, lastStated, type MemoryRow, memoryColumns } from './memory-row.ts';

/** The text of a memory and the data derived from it. */
export type MemoryText = {
  readonly text: string;
  readonly topic: string | null;
  readonly tokens: number;
  readonly terms: readonly string[];
  /** The vector of the text; undefined if no embedder was available. */
  readonly vector: Float32Array | undefined;
  /** The profile of the vector. */
  readonly vectorsKey: string | undefined;
};

type NewMemory = MemoryText & {
  readonly memoryId: string;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly role: string;
  readonly categories: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly source: object | null;
  /** When the person stated the text, at the latest when the request that stores it was made. */
  readonly statedAt: Date;
  readonly expiresAt: Date | null;
};

/**
 * The change that a statement belongs to. All statements of a change run in one transaction, which holds the lock of
 * the person.
 */
export type PersonChange = {
  readonly sql: TransactionSql;
  readonly person: string;
  readonly changeNo: string;
  /** The add that caused the change; null for a change by a person. */
  readonly eventId: string | null;
  readonly newId: () => string;
};

export async function insertMemory(
  { sql, person, changeNo, eventId, newId }: PersonChange,
  memory: NewMemory,
): Promise<void> {
  const { memoryId, text } = memory;
  await sql`
    insert into memory.memories (memory_id, person, agent_id, run_id, text, hash, sameness, topic, role, categories, metadata,
      source, stated_at, tokens, terms, vector, profile_id, change_no, expires_at)
    values (${memoryId}, ${person}, ${memory.agentId}, ${memory.runId}, ${text}, ${hashOf(text)}, ${samenessOf(text)},
      ${memory.topic}, ${memory.role}, ${sql.array([...memory.categories])}::text[],
      ${JSON.stringify(memory.metadata)}::text::jsonb,
      ${memory.source === null ? null : JSON.stringify(memory.source)}::text::jsonb, ${memory.statedAt},
      ${memory.tokens}, ${memory.terms.join(' ')}, decode(${base64Of(memory.vector)}, 'base64'), ${memory.vectorsKey ?? null}, ${changeNo},
      ${memory.expiresAt})`;
  await sql`
    insert into memory.history (entry_id, memory_id, person, event, new_text, event_id)
    values (${newId()}, ${memoryId}, ${person}, 'ADD', ${text}, ${eventId})`;
}

type Replacement = MemoryText & {
  readonly source: object | null;
  /** When the person stated the text; null means now. */
  readonly statedAt: Date | null;
  /** The metadata; undefined leaves the stored value unchanged. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly categories: readonly string[] | undefined;
  /** When the memory expires; null means never. */
  readonly expiresAt: Date | null | undefined;
};

/**
 * Replaces the text of a live memory and returns the changed memory; undefined if no memory has this id. If the text is
 * unchanged, the source is kept and the history gets no entry; if nothing changes, the row is not written.
 */
export async function replaceMemory(
  { sql, person, changeNo, eventId, newId }: PersonChange,
  memoryId: string,
  memory: Replacement,
): Promise<MemoryRow | undefined> {
  const { text, metadata, categories, expiresAt } = memory;
  const [before] = await sql<MemoryRow[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where m.person = ${person} and m.memory_id = ${memoryId} and m.deleted_at is null
      and (m.expires_at is null or m.expires_at > clock_timestamp())`;
  if (before === undefined) return undefined;
  const isSameText = before.text === text;
  if (isSameText && expiresAt === undefined && hasAlready(before, memory)) return before;
  const source = isSameText ? before.source : memory.source;
  const [changed] = await sql<MemoryRow[]>`
    update memory.memories m set text = ${text}, hash = ${hashOf(text)}, sameness = ${samenessOf(text)}, topic = ${memory.topic},
      tokens = ${memory.tokens}, terms = ${memory.terms.join(' ')}, vector = decode(${base64Of(memory.vector)}, 'base64'),
      profile_id = ${memory.vectorsKey ?? null}, version = version + 1, change_no = ${changeNo}, embed_failures = 0,
      embed_after = '-infinity',
      source = ${source === null ? null : JSON.stringify(source)}::text::jsonb,
      stated_at = coalesce(${memory.statedAt}::timestamptz, date_trunc('milliseconds', clock_timestamp())),
      metadata = coalesce(${metadata === undefined ? null : JSON.stringify(metadata)}::text::jsonb, metadata),
      categories = coalesce(${categories === undefined ? null : sql.array([...categories])}::text[], categories),
      expires_at = case when ${expiresAt === undefined} then expires_at else ${expiresAt ?? null}::timestamptz end,
      updated_at = clock_timestamp()
    where memory_id = ${memoryId} returning ${memoryColumns(sql)}`;
  if (isSameText) return changed;
  await sql`
    insert into memory.history (entry_id, memory_id, person, event, old_text, new_text, event_id)
    values (${newId()}, ${memoryId}, ${person}, 'UPDATE', ${before.text}, ${text}, ${eventId})`;
  return changed;
}

type Labels = Pick<Replacement, 'metadata' | 'categories'>;

/**
 * Replaces metadata and categories of a live memory, and returns the memory; undefined if no memory has this id. Text,
 * source and vector are kept, and the history gets no entry.
 */
export async function relabelMemory(
  { sql, person, changeNo }: PersonChange,
  memoryId: string,
  labels: Labels,
): Promise<MemoryRow | undefined> {
  const [before] = await sql<MemoryRow[]>`
    select ${memoryColumns(sql)} from memory.memories m
    where m.person = ${person} and m.memory_id = ${memoryId} and ${isLive(sql)}`;
  if (before === undefined || hasAlready(before, labels)) return before;
  const { metadata, categories } = labels;
  const [changed] = await sql<MemoryRow[]>`
    update memory.memories m set version = version + 1, change_no = ${changeNo}, stated_at = ${lastStated(sql)},
      metadata = coalesce(${metadata === undefined ? null : JSON.stringify(metadata)}::text::jsonb, metadata),
      categories = coalesce(${categories === undefined ? null : sql.array([...categories])}::text[], categories),
      updated_at = clock_timestamp()
    where memory_id = ${memoryId} returning ${memoryColumns(sql)}`;
  return changed;
}

/** Whether a memory already has the metadata and categories of a replacement. */
function hasAlready(before: MemoryRow, { metadata, categories }: Labels): boolean {
  return (
    (metadata === undefined || isDeepStrictEqual(before.metadata, metadata)) &&
    (categories === undefined || isDeepStrictEqual([...before.categories], [...categories]))
  );
}

/** Records that the person stated the text of a memory again; the rest of the memory is unchanged. */
export async function restateMemory({ sql, person }: PersonChange, memoryId: string, statedAt: Date): Promise<void> {
  await sql`
    update memory.memories set stated_at = ${statedAt} where person = ${person} and memory_id = ${memoryId}`;
}

/**
 * Soft-deletes a memory: its row and its history stay. Returns false if no live memory has this id.
 * @param askedAt when the person requested it in a message; undefined for other deletions
 */
export function removeMemory(change: PersonChange, memoryId: string, askedAt?: Date): Promise<boolean> {
  return remove(change, memoryId, { askedAt, onlyExpired: false });
}

/** Deletes a memory that has expired. Returns false if it was renewed after it was read as expired. */
export function removeExpiredMemory(change: PersonChange, memoryId: string): Promise<boolean> {
  return remove(change, memoryId, { askedAt: undefined, onlyExpired: true });
}

async function remove(
  { sql, person, changeNo, eventId, newId }: PersonChange,
  memoryId: string,
  { askedAt, onlyExpired }: { readonly askedAt: Date | undefined; readonly onlyExpired: boolean },
): Promise<boolean> {
  const [row] = await sql<{ text: string }[]>`
    update memory.memories m set deleted_at = clock_timestamp(), updated_at = clock_timestamp(), change_no = ${changeNo},
      stated_at = coalesce(${askedAt ?? null}::timestamptz, ${lastStated(sql)})
    where person = ${person} and memory_id = ${memoryId} and deleted_at is null
      and (not ${onlyExpired}::bool or expires_at <= clock_timestamp()) returning text`;
  if (row === undefined) return false;
  await sql`
    insert into memory.history (entry_id, memory_id, person, event, old_text, event_id)
    values (${newId()}, ${memoryId}, ${person}, 'DELETE', ${row.text}, ${eventId})`;
  return true;
}

function base64Of(vector: Float32Array | undefined): string | null {
  if (vector === undefined) return null;
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
}
