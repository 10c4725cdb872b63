import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import type { Logger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { createAgentProcesses } from '../agents/adapters/processes/agent-processes.ts';
import type { AgentHost } from '../agents/ports.ts';
import type { AgentAccess } from './operator-config.ts';

const root = join(import.meta.dirname, '..', '..');

/** Agents as processes of one machine, on loopback only; headers name the caller. */
export async function openAgents(
  access: AgentAccess | undefined,
  data: DataDirectory,
  { build, logger }: { readonly build: string; readonly logger: Logger },
): Promise<AgentHost | undefined> {
  if (access === undefined) return undefined;
  return createAgentProcesses({
    file: join(root, 'dataplane', 'agents', 'main.ts'),
    build,
    publicUrl: access.publicUrl,
    directory: join(data.run, 'agents'),
    logsDirectory: data.logs,
    env: {
      ...childEnvironment(),
      PORTCULLIS_IDENTITY: 'development',
      PORTCULLIS_POLICY_TARGETS_DIR: data.served,
      PORTCULLIS_RUNTIME_TOKEN_FILE: data.runtimeToken,
      ...(access.modelGateway === undefined
        ? {}
        : {
            PORTCULLIS_MODEL_GATEWAY_URL: access.modelGateway.url.href,
            PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: access.modelGateway.tokenFile,
          }),
    },
    logger,
  });
}
