import { existsSync } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import type { ReadyLine } from '#kit/process/ready';
import type { LastingPorts } from './lasting-ports.ts';
import { type DatabaseAt, pinAddresses, retrievalProcess } from './platform-processes.ts';
import type { StartChild } from './start-management.ts';
import { StartFailure } from './supervise.ts';

type RetrievalOptions = {
  readonly data: DataDirectory;
  readonly ports: LastingPorts;
  readonly database: Promise<DatabaseAt>;
  /** Origin of the gateway through which models are reached. */
  readonly gateway: string;
};

/** The address of the retrieval service; `retrievalOff` is the reason when it does not run. */
export type RetrievalStart = { readonly retrieval?: ReadyLine; readonly retrievalOff?: string };

const models = `# Approved profiles of models for retrieval; each model is an alias of the gateway. Read again on change.
# A profile with another model or dimension is another profile: a collection changes to it by a reindex.
embedding:
  - { id: offline, model: guarded-echo, dimension: 384, sendDimension: true, maxTokens: 2000 }
`;

/**
 * Starts the retrieval service. Guarded models do not need it: if it cannot start, the rest of the platform runs.
 * @throws StartFailure if another program uses a port, so that the start can be repeated with another one
 */
export async function startRetrievalProcess(
  start: StartChild,
  { data, ports, database, gateway }: RetrievalOptions,
): Promise<RetrievalStart> {
  if (!existsSync(data.models)) await writeAtomic(data.models, Buffer.from(models), { mode: 0o600 });
  try {
    const at = { gateway, database: await database, ports };
    return { retrieval: await start(retrievalProcess(data, at), pinAddresses) };
  } catch (error) {
    if (error instanceof StartFailure && !error.isAddressTaken) return { retrievalOff: error.message };
    throw error;
  }
}
