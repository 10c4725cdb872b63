import { agentRow } from '#diagnosis/agent-row';
import { agentVersionRow } from '#diagnosis/agent-version-row';
import type { KubeClient } from '#kube/client/client';
import type { Agent } from '#resources/agent';
import type { AgentVersion } from '#resources/agent-version';
import { kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { withPlatform } from '../platform/open-platform.ts';
import { type RunningPlatform, restartWith } from '../platform/running-platform.ts';
import { meantName } from '../resources/absent-resource.ts';

/** The address at which an agent accepts calls: operations of A2A are below the path. */
export type AgentAddress = { readonly origin: string; readonly path: string };

/** A resource is read immediately, even where a run may take long. */
const mostSeconds = 10;

/**
 * The address of an Agent or of an AgentVersion on a platform of this machine. The address is that of a gateway; a
 * platform without `--agents` has no gateway for agents, and its versions accept calls themselves.
 * @param seconds timeout of one request; at most ten seconds are used
 * @throws CliError not_found, failed if the agent accepts no calls
 */
export function findAgentAddress(platform: RunningPlatform, name: string, seconds: number): Promise<FoundAgent> {
  const options = { requestTimeout: Math.min(seconds, mostSeconds) };
  return withPlatform(platform, options, ({ client }) => addressOf(client, platform, name));
}

type FoundAgent = AgentAddress & { readonly agentId: string };

async function addressOf(client: KubeClient, platform: RunningPlatform, name: string): Promise<FoundAgent> {
  const gateway = platform.status.addresses.agents;
  const agent = await client.get<Agent>(kinds.agent, name);
  if (agent !== undefined) {
    if (gateway === undefined) {
      throw new CliError(
        'failed',
        `No gateway of this platform serves agents: name an AgentVersion ("portcullis get agentversions" lists them), or ${restartWith('--agents')}`,
      );
    }
    const { version, why = '' } = agentRow(agent);
    const agentId = agent.status?.agentId;
    if (version !== undefined && agentId !== undefined) return { origin: gateway, path: `/agents/${agentId}`, agentId };
    throw new CliError('failed', `The Agent ${name} is not served: ${why}`);
  }
  const found = await client.get<AgentVersion>(kinds.agentVersion, name);
  if (found === undefined) {
    const meant = await meantName(client, [kinds.agent, kinds.agentVersion], name);
    const remedy = meant || ' "portcullis get agents" and "portcullis get agentversions" list them.';
    throw new CliError('not_found', `There is no Agent and no AgentVersion ${name}.${remedy}`);
  }
  const { state, why = 'the operator has not processed it yet' } = agentVersionRow(found);
  const { address, agentId } = found.status ?? {};
  if (state !== 'ready' || address === undefined || agentId === undefined) {
    throw new CliError('failed', `The AgentVersion ${name} is not ready: ${why}`);
  }
  if (gateway === undefined) return { origin: address, path: '', agentId };
  if ((await client.get<Agent>(kinds.agent, found.spec.agent)) !== undefined) {
    return { origin: gateway, path: `/agents/${agentId}/versions/${found.metadata.uid}`, agentId };
  }
  throw new CliError(
    'failed',
    `No Agent serves the AgentVersion ${name}: apply the Agent ${found.spec.agent}, or publish the flow with "portcullis flow publish".`,
  );
}
