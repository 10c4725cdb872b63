import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { DataDirectory } from '#contracts/data-directory';
import { writeAtomic } from '#kit/files/write-atomic';
import type { ReadyLine } from '#kit/process/ready';
import { writeAgentIssuers } from './issuers-file.ts';
import type { LastingPorts } from './lasting-ports.ts';
import {
  type ChildSpec,
  catalogueProcess,
  type DatabaseAt,
  memoryProcess,
  offlineProfile,
  pinAddresses,
  retrievalProcess,
} from './platform-processes.ts';
import type { StartChild } from './start-management.ts';
import { StartFailure } from './supervise.ts';

type ServiceOptions = {
  readonly data: DataDirectory;
  readonly ports: LastingPorts;
  readonly database: Promise<DatabaseAt>;
  /** Origin of the gateway that serves the models, and the agents. */
  readonly gateway: string;
  /** Origin of the server of resources. */
  readonly api: string;
  /** A signal that is aborted when the start of the platform is cancelled. */
  readonly signal: AbortSignal;
};

/** Which of the services that call models are started. */
export type DataServices = {
  /** Whether documents can be searched. */
  readonly retrieval: boolean;
  /** The served policy that judges documents; undefined if they are not judged. */
  readonly guardDocuments: string | undefined;
  readonly memory: boolean;
  /** The served policy that judges texts that users send to the memory service; undefined if they are not judged. */
  readonly guardMemories: string | undefined;
  /** Whether the agent catalogue is started, which requires agents. */
  readonly catalogue: boolean;
  /** The served policy that judges the texts of cards; undefined if they are not judged. */
  readonly guardCards: string | undefined;
  /** Whether the gateways serve agents. */
  readonly agents: boolean;
};

/** The addresses of the started services; the member `…Off` is the reason why a service does not run. */
export type DataServicesStart = {
  readonly retrieval?: ReadyLine;
  readonly retrievalOff?: string;
  readonly memory?: ReadyLine;
  readonly memoryOff?: string;
  readonly catalogue?: ReadyLine;
  readonly catalogueOff?: string;
};

const models = `# Approved profiles of models for retrieval and memory; each model is an alias of the gateway. Read again on change.
# A profile with another model or dimension is another profile: a collection changes to it by a reindex.
embedding:
  - { id: ${offlineProfile}, model: guarded-echo, dimension: 384, sendDimension: true, maxTokens: 2000 }
`;

/**
 * Starts the wanted services. Guarded models do not need these services: if a service cannot start, the rest of the
 * platform runs.
 * @throws StartFailure if another program uses a port, so that the start can be repeated with another port
 */
export async function startDataServices(
  start: StartChild,
  { data, ports, database, gateway, api, signal }: ServiceOptions,
  wanted: DataServices,
): Promise<DataServicesStart> {
  if (!wanted.retrieval && !wanted.memory && !wanted.catalogue) return {};
  if (!existsSync(data.models)) await writeAtomic(data.models, Buffer.from(models), { mode: 0o600 });
  const { agents, guardDocuments, guardMemories, guardCards } = wanted;
  const guards = { retrieval: guardDocuments, memory: guardMemories, catalogue: guardCards } as const;
  const begin = async (
    name: 'retrieval' | 'memory' | 'catalogue',
    specOf: (folder: DataDirectory, at: Omit<Parameters<typeof catalogueProcess>[1], 'guard'>) => ChildSpec,
  ): Promise<Started> => {
    if (!wanted[name]) return {};
    try {
      if (agents) await writeAgentIssuers(data, name, gateway);
      const guard = guards[name];
      if (guard !== undefined) await targetOf(data, name, guard, signal);
      return await startOne(start, specOf(data, { gateway, database: await database, ports, agents, api }));
    } catch (error) {
      if (error instanceof StartFailure && !error.isAddressTaken) return { off: error.message };
      throw error;
    }
  };
  const [retrieval, memory, catalogue] = await Promise.all([
    begin('retrieval', (folder, at) => retrievalProcess(folder, { ...at, guard: guardDocuments })),
    begin('memory', (folder, at) => memoryProcess(folder, { ...at, guard: guardMemories })),
    begin('catalogue', (folder, at) => catalogueProcess(folder, { ...at, guard: guardCards })),
  ]);
  return {
    ...(retrieval.line === undefined ? {} : { retrieval: retrieval.line }),
    ...(retrieval.off === undefined ? {} : { retrievalOff: retrieval.off }),
    ...(memory.line === undefined ? {} : { memory: memory.line }),
    ...(memory.off === undefined ? {} : { memoryOff: memory.off }),
    ...(catalogue.line === undefined ? {} : { catalogue: catalogue.line }),
    ...(catalogue.off === undefined ? {} : { catalogueOff: catalogue.off }),
  };
}

/** The time for the operator to serve a policy after its own start. */
const served = { withinMs: 60_000, everyMs: 200 } as const;

/** Waits for the target of a served policy, because a guard without a target does not start. @throws StartFailure */
async function targetOf(data: DataDirectory, service: string, name: string, signal: AbortSignal): Promise<void> {
  for (let waited = 0; !existsSync(data.servedTarget(name)); waited += served.everyMs) {
    if (waited >= served.withinMs) {
      const remedy = `add ${name} to ${data.servedPolicies}, and see 'portcullis status' for its policy`;
      throw new StartFailure(service, `waited a minute for the policy ${name}`, remedy);
    }
    await setTimeout(served.everyMs, undefined, { signal });
  }
}

type Started = { readonly line?: ReadyLine; readonly off?: string };

async function startOne(start: StartChild, spec: ChildSpec): Promise<Started> {
  return { line: await start(spec, pinAddresses) };
}
