import { embedText } from '#models/embed-text';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import type { Database } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import type { TextPorts } from './memory-text.ts';

export type EmbedPorts = TextPorts & { readonly database: Database; readonly newId: () => string };

/** Number of memories in one step. */
const batch = 100;
/**
 * How long a worker has the memories that it claims exclusively, seconds; after its death another worker claims them.
 */
const leaseSeconds = 120;
/** The pause of a memory at which a model or the database failed. */
const afterFailureSeconds = 15;
/** The pause after an invalid vector, seconds; it is doubled after each further invalid vector. */
const delay = { first: 60, most: 86_400 } as const;

type Unembedded = {
  readonly person: string;
  readonly memory_id: string;
  readonly version: number;
  readonly text: string;
};

/**
 * Adds vectors to a batch of memories that were written while no embedder was available, or with another profile; true
 * if there may be more. A text for which the embedder returns an invalid vector is delayed, longer each time, so that
 * such texts do not delay others (docs/design/memory.md, "Maintenance").
 * @throws ModelsError, SqlUnavailableError: the remaining memories are claimed again by the next step
 */
export async function embedMissing(ports: EmbedPorts, signal: AbortSignal): Promise<boolean> {
  const profile = ports.profile();
  if (profile === undefined) return false;
  const rows = await takeMissing(ports.database, vectorsKey(profile));
  for (const [at, row] of rows.entries()) {
    try {
      const vector = await vectorOrNone(() =>
        embedText(ports.models, { profile, use: 'passage', text: row.text }, { signal }),
      );
      if (vector === 'invalid') await delayMemory(ports.database, row);
      else await storeVector(ports.database, row, { vector, profile });
    } catch (error) {
      await returnMissing(ports.database, rows.slice(at));
      throw error;
    }
  }
  return rows.length === batch;
}

/** Memories without a vector of the key of the profile, which no other worker takes at the same time. */
async function takeMissing({ sql }: Database, key: string): Promise<readonly Unembedded[]> {
  return sql<Unembedded[]>`
    with below as (
      select memory_id from memory.memories
      where deleted_at is null and coalesce(profile_id, '') < ${key} and embed_after <= clock_timestamp()
      limit ${batch} for update skip locked),
    above as (
      select memory_id from memory.memories
      where deleted_at is null and coalesce(profile_id, '') > ${key} and embed_after <= clock_timestamp()
      limit ${batch} for update skip locked)
    update memory.memories m set embed_after = clock_timestamp() + ${leaseSeconds} * interval '1 second'
    from (select memory_id from below union all select memory_id from above limit ${batch}) due
    where m.memory_id = due.memory_id
    returning m.person, m.memory_id, m.version, m.text`;
}

/**
 * Releases memories after a failure. The first memory, at which the failure occurred, waits, so that the next step
 * begins with another memory. A memory that a change has locked is skipped, because that change may wait for another
 * one of these memories: it is released when its lease ends.
 */
async function returnMissing({ sql }: Database, rows: readonly Unembedded[]): Promise<void> {
  const ids = rows.map(({ memory_id }) => memory_id);
  await sql`
    update memory.memories set embed_after = case when memory_id = ${ids[0] ?? null}::uuid
      then clock_timestamp() + ${afterFailureSeconds} * interval '1 second' else '-infinity' end
    where memory_id in (
      select memory_id from memory.memories where memory_id = any(${sql.array(ids)}::uuid[]) for update skip locked)`;
}

async function delayMemory({ sql }: Database, { memory_id, version }: Unembedded): Promise<void> {
  await sql`
    update memory.memories set embed_failures = least(embed_failures + 1, 30),
      embed_after = clock_timestamp()
        + least(${delay.first} * power(2, embed_failures), ${delay.most}) * interval '1 second'
    where memory_id = ${memory_id} and version = ${version}`;
}

async function storeVector(
  { sql: database }: Database,
  row: Unembedded,
  { vector, profile }: { readonly vector: Float32Array; readonly profile: EmbeddingProfile },
): Promise<void> {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
  await database.begin(async (sql) => {
    const changeNo = await beginChange(sql, row.person);
    if (changeNo === undefined) return;
    await sql`
      update memory.memories set vector = decode(${bytes}, 'base64'), profile_id = ${vectorsKey(profile)}, version = version + 1,
        change_no = ${changeNo}, embed_failures = 0, embed_after = '-infinity'
      where memory_id = ${row.memory_id} and version = ${row.version}`;
  });
}

/**
 * The vector of a text, or an empty vector if the gateway refuses the text: such a text is found by its words, and is
 * not sent to the gateway again.
 */
async function vectorOrNone(embed: () => Promise<Float32Array | undefined>): Promise<Float32Array | 'invalid'> {
  try {
    return (await embed()) ?? new Float32Array();
  } catch (error) {
    if (error instanceof ModelsError && error.code === 'invalid') return 'invalid';
    if (error instanceof ModelsError && (error.code === 'denied' || error.code === 'refused'))
      return new Float32Array();
    throw error;
  }
}
