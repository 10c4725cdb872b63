import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';
import type { Logger } from '#kit/log/logger';
import { childEnvironment } from '#kit/process/config';
import { traceEnvironment } from '#kit/trace/trace-settings';
import { createAgentProcesses } from '../agents/adapters/processes/agent-processes.ts';
import type { AgentHost } from '../agents/ports.ts';
import type { ServedPolicies } from '../served/ports.ts';
import type { AgentAccess } from './operator-config.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * Agents as processes of one machine, on loopback only. With a gateway they accept calls with tokens of the gateway;
 * without a gateway, headers name the caller.
 */
export async function openAgents(
  access: AgentAccess | undefined,
  data: DataDirectory,
  {
    build,
    logger,
    served,
  }: { readonly build: string; readonly logger: Logger; readonly served: Pick<ServedPolicies, 'pins'> },
): Promise<AgentHost | undefined> {
  if (access === undefined) return undefined;
  return createAgentProcesses({
    file: join(root, 'dataplane', 'agents', 'main.ts'),
    build,
    publicUrl: access.publicUrl,
    directory: join(data.run, 'agents'),
    logsDirectory: data.logs,
    env: { ...childEnvironment(), ...addressesOf(access, data) },
    // The pin of a policy is stored before its target, which the process reads.
    servedRevision: (policy) =>
      existsSync(data.servedTarget(policy)) ? served.pins().get(policy)?.policyRevision : undefined,
    logger,
  });
}

/** Settings of every process of an agent. */
function addressesOf(access: AgentAccess, data: DataDirectory): Readonly<Record<string, string>> {
  const { gateway, modelGateway, retrieval, memory, filesIssuer, traces } = access;
  return {
    PORTCULLIS_POLICY_TARGETS_DIR: data.served,
    PORTCULLIS_RUNTIME_TOKEN_FILE: data.runtimeToken,
    ...(gateway === undefined
      ? { PORTCULLIS_IDENTITY: 'development' }
      : {
          PORTCULLIS_IDENTITY: 'production',
          PORTCULLIS_GATEWAY_ISSUER: gateway.issuer,
          PORTCULLIS_AGENT_GATEWAY_URL: gateway.url.href,
        }),
    ...(modelGateway === undefined
      ? {}
      : {
          PORTCULLIS_MODEL_GATEWAY_URL: modelGateway.url.href,
          PORTCULLIS_MODEL_GATEWAY_TOKEN_FILE: modelGateway.tokenFile,
        }),
    ...(retrieval === undefined ? {} : { PORTCULLIS_RETRIEVAL_URL: retrieval.href }),
    ...(memory === undefined ? {} : { PORTCULLIS_MEMORY_URL: memory.href }),
    ...traceEnvironment(traces),
    ...(filesIssuer === undefined
      ? {}
      : {
          PORTCULLIS_FILES_DIR: data.files,
          PORTCULLIS_FILES_ISSUER: filesIssuer,
          PORTCULLIS_FILES_KEYS_FILE: data.fileKeySet,
        }),
  };
}
