import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { embedText } from '#models/embed-text';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile, Models } from '#models/ports';
import { vectorsKey } from '#models/vectors-key';
import { base64OfVector } from '#search/vector-text';
import type { Database } from '#sql/connect';
import { nextChange } from './write-entry.ts';

type EmbedPorts = {
  readonly database: Pick<Database, 'sql'>;
  readonly models: Models;
  readonly profile: () => EmbeddingProfile | undefined;
};

type UnembeddedAgent = {
  readonly workspace: string;
  readonly agent_id: string;
  readonly passage: string;
  readonly change_no: string;
};

type EntryKey = Pick<UnembeddedAgent, 'workspace' | 'agent_id'>;

/** `written`: the vector is stored, or an empty vector for a text that the gateway refuses. */
export type EmbeddingEnd = 'written' | 'failed';

type EmbedOptions = {
  readonly logger: Logger;
  readonly pollMs: number;
  /** Called after each agent that was tried. */
  readonly onEnd: (end: EmbeddingEnd) => void;
};

const batch = 50;

/** A position before the first entry. */
const beginning = { workspace: '', agent_id: '00000000-0000-0000-0000-000000000000' } as const;

/**
 * Adds vectors to agents that have no vector of the current profile. Until then an agent is found by its words; a
 * failure of the models has no other effect. A pass ends at the first failure, and the next pass begins after that
 * agent, so that a text that always fails does not prevent the embedding of other agents.
 */
export function embedAgents(ports: EmbedPorts, { logger, pollMs, onEnd }: EmbedOptions): WorkLoop {
  let after: EntryKey = beginning;
  return startWorkLoop(
    async (signal) => {
      try {
        const rows = await unembedded(ports, after);
        if (rows.length === 0) after = beginning;
        for (const row of rows) {
          after = row;
          await embedAgent(ports, row, signal);
          onEnd('written');
        }
        return rows.length > 0;
      } catch (error) {
        if (signal.aborted) return false;
        onEnd('failed');
        logger.warn('embedding_failed', { failure: describeFailure(error) });
        return false;
      }
    },
    { pollMs },
  );
}

/**
 * The next agents without a vector of the current profile; an empty list without a profile. An index answers each part
 * of the statement: while all agents have their vectors, no row is read.
 */
async function unembedded(
  { database, profile: profileOf }: EmbedPorts,
  after: EntryKey,
): Promise<readonly UnembeddedAgent[]> {
  const profile = profileOf();
  if (profile === undefined) return [];
  const { sql } = database;
  const key = vectorsKey(profile);
  const listed = sql`
    select workspace, agent_id, passage, change_no from catalogue.entries
    where is_listed and (workspace, agent_id) > (${after.workspace}, ${after.agent_id}::uuid)`;
  const next = sql`order by workspace, agent_id limit ${batch}`;
  return await sql<UnembeddedAgent[]>`
    (${listed} and vector is null ${next})
    union all (${listed} and vector is not null and profile_id < ${key} ${next})
    union all (${listed} and vector is not null and profile_id > ${key} ${next})
    ${next}`;
}

async function embedAgent(
  { database, models, profile: profileOf }: EmbedPorts,
  row: UnembeddedAgent,
  signal: AbortSignal,
): Promise<void> {
  const profile = profileOf();
  if (profile === undefined) return;
  const vector = await vectorOrNone(() =>
    embedText(models, { profile, use: 'passage', text: row.passage }, { signal }),
  );
  await database.sql.begin(async (sql) => {
    const changeNo = await nextChange(sql, row.workspace);
    await sql`
      update catalogue.entries set vector = decode(${base64OfVector(vector)}, 'base64'), profile_id = ${vectorsKey(profile)},
        change_no = ${changeNo}::bigint
      where workspace = ${row.workspace} and agent_id = ${row.agent_id}::uuid
        and change_no = ${row.change_no}::bigint`;
  });
}

/** An empty vector for a text that the gateway refuses, so that this text is not sent again. */
async function vectorOrNone(embed: () => Promise<Float32Array | undefined>): Promise<Float32Array> {
  try {
    return (await embed()) ?? new Float32Array();
  } catch (error) {
    if (error instanceof ModelsError && (error.code === 'denied' || error.code === 'refused')) {
      return new Float32Array();
    }
    throw error;
  }
}
