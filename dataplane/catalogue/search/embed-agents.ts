import { startWorkLoop, type WorkLoop } from '#kit/concurrency/work-loop';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { ModelsError } from '#models/models-error';
import type { EmbeddingProfile, Models } from '#models/ports';
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

const batch = 50;

/**
 * Adds vectors to agents that have none of the current profile. Until then an agent is found by its words, and a failure
 * of the models stops nothing else.
 */
export function embedAgents(
  ports: EmbedPorts,
  { logger, pollMs }: { readonly logger: Logger; readonly pollMs: number },
): WorkLoop {
  return startWorkLoop(
    async (signal) => {
      try {
        return await embedBatch(ports, signal);
      } catch (error) {
        if (!signal.aborted) logger.warn('embedding_failed', { failure: describeFailure(error) });
        return false;
      }
    },
    { pollMs },
  );
}

/** @returns whether any agent got a vector */
async function embedBatch({ database, models, profile: profileOf }: EmbedPorts, signal: AbortSignal): Promise<boolean> {
  const profile = profileOf();
  if (profile === undefined) return false;
  const rows = await database.sql<UnembeddedAgent[]>`
    select workspace, agent_id, passage, change_no from catalogue.entries
    where is_listed and (vector is null or profile_id is distinct from ${profile.id})
    order by workspace, agent_id limit ${batch}`;
  for (const row of rows) {
    const vector = await vectorOrNone(() => models.embed(profile, 'passage', [row.passage], { signal }));
    await database.sql.begin(async (sql) => {
      const changeNo = await nextChange(sql, row.workspace);
      await sql`
        update catalogue.entries set vector = decode(${base64OfVector(vector)}, 'base64'), profile_id = ${profile.id},
          change_no = ${changeNo}::bigint
        where workspace = ${row.workspace} and agent_id = ${row.agent_id}::uuid
          and change_no = ${row.change_no}::bigint`;
    });
  }
  return rows.length > 0;
}

/** An empty vector for a text that the gateway refuses, so that it is not asked again for this text. */
async function vectorOrNone(embed: () => Promise<readonly Float32Array[]>): Promise<Float32Array> {
  try {
    return (await embed())[0] ?? new Float32Array();
  } catch (error) {
    if (error instanceof ModelsError && (error.code === 'denied' || error.code === 'refused')) {
      return new Float32Array();
    }
    throw error;
  }
}
