import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import { ModelsError } from '#models/models-error';
import type { Database } from '#sql/connect';
import { beginChange } from '../people/person.ts';
import type { TextPorts } from './memory-text.ts';
import { removeMemory } from './write-memory.ts';

type MaintenancePorts = TextPorts & { readonly database: Database; readonly newId: () => string };

type MaintenanceOptions = {
  readonly logger: Logger;
  readonly everyMs: number;
  /** Ends events that no worker may try again. */
  readonly failUndelivered: () => Promise<unknown>;
};

const batch = 100;
/** How long an ended event can be read. */
const eventsKept = '30 days';

/** Removes expired memories and session states, and adds missing vectors, repeatedly until it is disposed. */
export function maintainMemories(ports: MaintenancePorts, options: MaintenanceOptions): AsyncDisposable {
  const stop = new AbortController();
  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await options.failUndelivered();
        await ports.database.sql`delete from memory.sessions where expires_at <= clock_timestamp()`;
        await ports.database.sql`
          delete from memory.events
          where status in ('SUCCEEDED', 'FAILED') and updated_at < clock_timestamp() - ${eventsKept}::interval`;
        await removeExpired(ports);
        await embedMissing(ports, stop.signal);
      } catch (error) {
        if (!stop.signal.aborted) options.logger.warn('memory_maintenance_failed', { failure: describeFailure(error) });
      }
      await wait(options.everyMs, stop.signal);
    }
  }
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** Deletes expired memories, with an entry in their history. Reads have already excluded them. */
async function removeExpired({ database, newId }: MaintenancePorts): Promise<void> {
  const rows = await database.sql<{ person: string; memory_id: string }[]>`
    select person, memory_id from memory.memories
    where deleted_at is null and expires_at <= clock_timestamp() order by expires_at limit ${batch}`;
  for (const [person, own] of Map.groupBy(rows, (row) => row.person)) {
    await database.sql.begin(async (sql) => {
      const changeNo = await beginChange(sql, person);
      if (changeNo === undefined) return;
      const change = { sql, person, changeNo, eventId: null, newId };
      for (const { memory_id } of own) await removeMemory(change, memory_id);
    });
  }
}

type Unembedded = {
  readonly person: string;
  readonly memory_id: string;
  readonly version: number;
  readonly text: string;
};

/** Adds vectors to memories that were written while no embedder was available, or with another profile. */
async function embedMissing(
  { database, models, profile: profileOf }: MaintenancePorts,
  signal: AbortSignal,
): Promise<void> {
  const profile = profileOf();
  if (profile === undefined) return;
  const { sql } = database;
  const rows = await sql<Unembedded[]>`
    select person, memory_id, version, text from memory.memories
    where deleted_at is null and (vector is null or profile_id is distinct from ${profile.id}) limit ${batch}`;
  for (const row of rows) {
    const vector = await vectorOrNone(() => models.embed(profile, 'passage', [row.text], { signal }));
    if (vector === 'invalid') continue;
    const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64');
    await database.sql.begin(async (transaction) => {
      const changeNo = await beginChange(transaction, row.person);
      if (changeNo === undefined) return;
      await transaction`
        update memory.memories set vector = decode(${bytes}, 'base64'), profile_id = ${profile.id}, version = version + 1,
          change_no = ${changeNo}
        where memory_id = ${row.memory_id} and version = ${row.version}`;
    });
  }
}

/**
 * An empty vector for a text that the gateway refuses: the text is found by its words, and the gateway is not asked
 * again. An invalid answer for one text does not stop the others.
 */
async function vectorOrNone(embed: () => Promise<readonly Float32Array[]>): Promise<Float32Array | 'invalid'> {
  try {
    return (await embed())[0] ?? new Float32Array();
  } catch (error) {
    if (error instanceof ModelsError && error.code === 'invalid') return 'invalid';
    if (error instanceof ModelsError && (error.code === 'denied' || error.code === 'refused'))
      return new Float32Array();
    throw error;
  }
}
