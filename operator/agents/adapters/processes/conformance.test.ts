import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import type { AgentHost } from '../../ports.ts';
import { type AgentsPlace, describeAgents } from '../../testing/agents-suite.ts';
import { createAgentProcesses } from './agent-processes.ts';

const root = join(import.meta.dirname, '../../../..');

/** Real processes of agents in a temporary folder. */
async function openProcessesPlace(): Promise<AgentsPlace> {
  const folder = temporaryFolder();
  await mkdir(join(folder.path, 'logs'));
  /** Newest process of each workload. */
  const pids = new Map<string, number>();
  const destination = {
    write(line: string): void {
      const { event, pid, workload } = JSON.parse(line) as Record<'event' | 'workload', string> & { pid?: number };
      if (event === 'agent_started' && pid !== undefined) pids.set(workload, pid);
    },
  };
  const create = (): Promise<AgentHost> =>
    createAgentProcesses({
      file: join(root, 'dataplane/agents/main.ts'),
      build: 'b1',
      publicUrl: new URL('https://agents.example'),
      directory: join(folder.path, 'agents'),
      logsDirectory: join(folder.path, 'logs'),
      env: { ...childEnvironment(), PORTCULLIS_IDENTITY: 'development' },
      servedRevision: () => undefined,
      logger: createLogger({ service: 'test', level: 'info', destination }),
    });
  let agents = await create();
  return {
    get agents() {
      return agents;
    },
    start: async () => undefined,
    async fail(name) {
      process.kill(pids.get(name) ?? 0, 'SIGKILL');
    },
    async succeed() {
      await agents[Symbol.asyncDispose]();
      agents = await create();
      return agents;
    },
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describeAgents('local processes', openProcessesPlace);
