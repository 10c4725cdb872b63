import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { Logger } from '#kit/log/logger';
import type { ServedRevision } from '../../missing-policy.ts';
import type { AgentHost, AgentRequest } from '../../ports.ts';
import { type AgentReplica, startAgentReplica } from './agent-replica.ts';

/** Maximum number of processes that start at the same time. */
const startsAtOnce = 4;

type AgentProcessesOptions = {
  /** `dataplane/agents/main.ts` of this checkout. */
  readonly file: string;
  readonly build: string;
  readonly publicUrl: URL;
  /**
   * Folder for bundles and termination messages; it is removed at the end. A folder left by an earlier process is
   * removed at the start.
   */
  readonly directory: string;
  readonly logsDirectory: string;
  /**
   * Environment variables of every process: the inherited variables, and the addresses and tokens of the services that
   * the process calls.
   */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly servedRevision: ServedRevision;
  readonly logger: Logger;
};

/** Versions of agents as child processes, which listen on loopback and end together with the operator. */
export async function createAgentProcesses(options: AgentProcessesOptions): Promise<AgentHost> {
  const { directory, build, publicUrl, logger } = options;
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const running = new Map<string, AgentReplica>();
  const requests = new Map<string, AgentRequest>();
  const ending = new Set<Promise<void>>();
  const starts = createSemaphore(startsAtOnce);
  let started = 0;
  let listener: (resource: string) => void = () => undefined;

  function end(process: AgentReplica): void {
    const stopped = process.stop().finally(() => ending.delete(stopped));
    ending.add(stopped);
  }

  return {
    build,
    publicUrl,
    // Code of an author would run with the rights of the account of the platform (docs/decisions/0097).
    runsImages: false,
    ensure(request) {
      const { name, resource } = request;
      if (running.has(name)) return;
      // A process that is ending removes its files, when the next process of the same workload may already have written
      // its own files.
      started += 1;
      const bundleFile = join(directory, `${name}-${started}.json`);
      const messageFile = join(directory, `${name}-${started}.reason`);
      const process = startAgentReplica({
        request,
        file: options.file,
        env: {
          ...options.env,
          PORTCULLIS_AGENT_BUNDLE: bundleFile,
          PORTCULLIS_TERMINATION_MESSAGE_FILE: messageFile,
        },
        bundleFile,
        messageFile,
        logFile: join(options.logsDirectory, `${name}.log`),
        starts,
        servedRevision: options.servedRevision,
        onChange: () => listener(resource),
        onStart: (pid) => logger.info('agent_started', { workload: name, version: resource, pid }),
        onEnd: (reason) => logger.warn('agent_ended', { workload: name, version: resource, reason }),
        onFault: () => logger.error('agent_not_read', { workload: name, version: resource }),
      });
      running.set(name, process);
      requests.set(name, request);
    },
    observe: (name) => running.get(name)?.observed,
    remove(name) {
      const process = running.get(name);
      if (process !== undefined) end(process);
      running.delete(name);
      requests.delete(name);
    },
    has: (name) => running.has(name),
    // The processes of the previous operator ended with it, so that only processes of this operator run.
    runs: (name) => running.has(name),
    requestOf: (name) => requests.get(name),
    onChange(next) {
      listener = next;
    },
    async [Symbol.asyncDispose]() {
      for (const process of running.values()) end(process);
      running.clear();
      await Promise.all(ending);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
