import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCheckClient } from '#checks/client';
import { servedGuardTarget } from '#checks/guard/guard-target';
import { judgeText } from '#checks/guard/judge-text';
import type { DataDirectory } from '#contracts/data-directory';
import { noUsage } from '#contracts/run-usage';
import { type ServedTarget, servedTargetSchema } from '#contracts/served-target';
import { PortError } from '#flow/engine/flow-error';
import type { FlowPorts, PortCall } from '#flow/engine/ports';
import { createAgentPort } from '#flow/services/agent-port';
import { createMemoryPorts } from '#flow/services/memory-ports';
import { createModelPort } from '#flow/services/model-port';
import { createRetrievalPort } from '#flow/services/retrieval-port';
import { openTokenFile } from '#kit/http/token-file';
import type { Required } from './refuse-unreachable.ts';
import type { Reach, RunTarget } from './run-target.ts';

/** The ports of a run, and the remedies for the calls that it cannot make. */
type PlatformPorts = AsyncDisposable & {
  readonly ports: FlowPorts;
  /** For each node that called something unreachable, by its path: the remedy as a sentence. */
  readonly remedies: ReadonlyMap<string, string>;
  /** The remedy for a dependency that no call of the run can reach; undefined for a dependency that can be called. */
  remedyFor(needs: Required): string | undefined;
};

const publish =
  'Publish the flow, and call the agent: "portcullis agent send", or the gateway of a cluster. "portcullis agent trace" then ' +
  'shows its nodes.';

const connectionRemedy = `Only published agents can call connections. ${publish}`;
const runtimesRemedy = `The runtimes of another platform cannot be called from here. ${publish}`;
const unservedRemedy = (policy: string): string =>
  `List the policy ${policy} in served-policies.yaml, and start the platform again.`;

const tooLargeRemedy = (policy: string): string =>
  `The policy ${policy} cannot judge a text of this size: give the node a shorter one, or change the rule that needs the whole text.`;

/**
 * The ports of a flow that runs in the command line, for the author of the flow: models through the gateway with a client key,
 * policies that are served to services of this machine, and agents, collections and memories with the rights of the person.
 */
export function openPlatformPorts(target: RunTarget): PlatformPorts {
  const { data } = target;
  const remedies = new Map<string, string>();
  const refuse = (call: PortCall, code: PortError['code'], remedy: string): never => {
    remedies.set(call.path, remedy);
    throw new PortError(code);
  };
  const away = (remedy: string) => async (_: unknown, call: PortCall) => refuse(call, 'unavailable', remedy);
  /** The ports to a service, or ports that report that the service is missing. */
  const to = <Ports>(reach: Reach, open: (url: URL) => Ports, absent: (remedy: string) => Ports): Ports =>
    'url' in reach ? open(reach.url) : absent(reach.absent);
  const { identity, serviceIdentity } = target;
  const checks = data === undefined ? undefined : createCheckClient({ tokenFile: openTokenFile(data.runtimeToken) });
  const connection = away(connectionRemedy);
  const ports: FlowPorts = {
    model: to(
      target.models,
      (url) => createModelPort({ url, identity: () => ({ authorization: `Bearer ${target.clientKey}` }) }),
      away,
    ),
    retrieval: to(target.retrieval, (url) => createRetrievalPort({ url, identity: serviceIdentity }), away),
    ...to(
      target.memory,
      (url) => createMemoryPorts({ url, identity: serviceIdentity }),
      (remedy) => {
        const none = away(remedy);
        return { memorySearch: none, memoryAdd: none, sessionGet: none, sessionPut: none };
      },
    ),
    agent: to(target.agents, (url) => agentPort(url, identity), away),
    async guardrail({ policy, stage, text }, call) {
      if (data === undefined || checks === undefined) return refuse(call, 'unavailable', runtimesRemedy);
      const served = readServed(data, policy);
      if (served === undefined) return refuse(call, 'refused', unservedRemedy(policy));
      const verdict = await judgeText(checks, servedGuardTarget(served, stage), stage, text, call.signal);
      switch (verdict.kind) {
        case 'pass':
        case 'mask':
          return { decision: verdict.kind, text: verdict.text };
        case 'denied':
          return { decision: 'deny' };
        case 'failed':
          throw new PortError('unavailable');
        case 'too_large':
          return refuse(call, 'refused', tooLargeRemedy(policy));
      }
    },
    http: connection,
    mcp: connection,
    file: async () => {
      throw new PortError('file_provider_mapping_failed');
    },
  };
  return {
    ports,
    remedies,
    remedyFor: (needs) => remedyFor(target, needs),
    [Symbol.asyncDispose]: async () => await checks?.[Symbol.asyncDispose](),
  };
}

function remedyFor({ models, agents, retrieval, memory, data }: RunTarget, { kind, name }: Required) {
  const absent = (reach: Reach): string | undefined => ('url' in reach ? undefined : reach.absent);
  switch (kind) {
    case 'model':
      return absent(models);
    case 'agent':
      return absent(agents);
    case 'collection':
      return absent(retrieval);
    case 'memory':
      return absent(memory);
    case 'connection':
    case 'mcp':
      return connectionRemedy;
    case 'policy':
      if (data === undefined) return runtimesRemedy;
      return readServed(data, name) === undefined ? unservedRemedy(name) : undefined;
  }
}

/**
 * Only agents receive the usage of a called run. The called run has the budget of its own version, and uses nothing of
 * this run.
 */
function agentPort(url: URL, identity: RunTarget['identity']): FlowPorts['agent'] {
  const port = createAgentPort({ url, identity: () => identity });
  return async (request, call) => {
    call.share?.report(noUsage);
    return await port(request, call);
  };
}

/** @returns undefined for a policy that is not served to services */
function readServed({ served }: DataDirectory, policy: string): ServedTarget | undefined {
  if (policy.includes('/')) return undefined;
  try {
    return servedTargetSchema.parse(JSON.parse(readFileSync(join(served, `${policy}.json`), 'utf8')));
  } catch {
    return undefined;
  }
}
