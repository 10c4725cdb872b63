import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCheckClient } from '#checks/client';
import { servedCheckTarget } from '#checks/served-target';
import type { DataDirectory } from '#contracts/data-directory';
import { servedTargetSchema } from '#contracts/served-target';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts } from '#flow/engine/ports';
import { createMemoryPorts } from '#flow/services/memory-ports';
import { createModelPort } from '#flow/services/model-port';
import { createRetrievalPort } from '#flow/services/retrieval-port';
import { openTokenFile } from '#kit/http/token-file';
import type { RunningPlatform } from '../platform/running-platform.ts';

/**
 * The ports of a flow that runs in the command line, for the author of the flow: models through the gateway, policies
 * that are served to services, collections and memories with the rights of `identity`. A service that the platform does
 * not run is `unavailable`, and so are connections, tools and other agents.
 */
export function openPlatformPorts(
  { status, data }: RunningPlatform,
  identity: Readonly<Record<string, string>>,
): FlowPorts & AsyncDisposable {
  const away = async (): Promise<never> => {
    throw new PortError('unavailable');
  };
  const { gateway, retrieval, memory } = status.addresses;
  const clientKeys = openTokenFile(status.clientKeyFile);
  const service = (origin: string) => ({ url: new URL(origin), identity: () => identity });
  const checks = createCheckClient({ tokenFile: openTokenFile(data.runtimeToken) });
  const memories = memory === undefined ? undefined : createMemoryPorts(service(memory));
  return {
    model: createModelPort({
      url: new URL(gateway),
      identity: () => ({ authorization: `Bearer ${clientKeys.first()}` }),
    }),
    retrieval: retrieval === undefined ? away : createRetrievalPort(service(retrieval)),
    memorySearch: away,
    memoryAdd: away,
    sessionGet: away,
    sessionPut: away,
    ...memories,
    async guardrail({ policy, stage, text }, { signal }) {
      const served = readServed(data, policy);
      const role = stage === 'request' ? 'user' : 'assistant';
      const outcome = await checks.check(servedCheckTarget(served, stage), stage, [{ role, content: text }], {
        signal,
      });
      switch (outcome.kind) {
        case 'pass':
          return { decision: 'pass', text };
        case 'mask':
          return { decision: 'mask', text: outcome.contents[0] ?? '' };
        case 'deny':
          return { decision: 'deny' };
        case 'failed':
          throw new PortError('unavailable');
      }
    },
    http: away,
    mcp: away,
    agent: away,
    file: async () => {
      throw new PortError('file_provider_mapping_failed');
    },
    [Symbol.asyncDispose]: () => checks[Symbol.asyncDispose](),
  };
}

/** @throws PortError refused for a policy that is not served to services */
function readServed({ served }: DataDirectory, policy: string) {
  try {
    if (policy.includes('/')) throw new PortError('refused');
    return servedTargetSchema.parse(JSON.parse(readFileSync(join(served, `${policy}.json`), 'utf8')));
  } catch {
    throw new PortError('refused');
  }
}
