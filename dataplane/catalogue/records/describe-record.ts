import type { AgentRecord } from '#contracts/catalogue';
import type { ReadAgent } from './agent-content.ts';

/** The record as one caller sees it. @param mayInvoke whether the caller has the right invoke at this moment */
export function describeRecord(agent: ReadAgent, mayInvoke: boolean): AgentRecord {
  const address = mayInvoke ? invocationOf(agent) : undefined;
  return {
    agentId: agent.agent_id,
    versionId: agent.version_id,
    name: agent.name,
    description: agent.description,
    owner: { ownerType: 'user', ownerIssuer: agent.owner_issuer, ownerSubject: agent.owner_subject },
    workspace: agent.workspace,
    state: agent.state,
    protocol: agent.protocol,
    implementationType: agent.implementation_type,
    skills: [...agent.skills],
    ...(address === undefined ? {} : { invocationInterface: address }),
  };
}

/**
 * The interface of an agent that accepts calls now: its version is ready, the rights of its resource are stored and the
 * gateways have loaded its route, all according to the last observation. An agent over MCP has no interface while its
 * exposure is R1.
 */
function invocationOf(agent: ReadAgent): AgentRecord['invocationInterface'] {
  const { state, url, version_id: versionId, protocol, exposure, is_current: isCurrent } = agent;
  const isOpen = agent.is_ready && agent.is_consistent && agent.is_routed && (protocol === 'a2a' || exposure === 'R2');
  if (!isCurrent || state !== 'active' || !isOpen || url === null || versionId === null) return undefined;
  const version = `${url}/versions/${versionId}`;
  return {
    url: protocol === 'a2a' ? version : `${version}/mcp`,
    protocolBinding: protocol === 'a2a' ? 'A2A HTTP+JSON' : 'MCP Streamable HTTP',
    exposure: 'public_gateway',
    authorization: 'platform_oidc_rebac',
  };
}
