import type { AgentBundle } from '#contracts/agent-bundle';
import type { FlowConnection } from '#environment/connections-file';

const kinds = { connection: 'http', mcp: 'mcp' } as const;

/**
 * The connections that a version requires and that the environment does not have for its agent, one sentence each. No
 * gateway gives a run of such a version a token for them.
 */
export function missingConnections(
  { requires }: Pick<AgentBundle, 'requires'>,
  agent: string,
  connections: readonly FlowConnection[],
): readonly string[] {
  return requires.flatMap(({ kind, name }) => {
    if (kind !== 'connection' && kind !== 'mcp') return [];
    const found = connections.find((one) => one.name === name);
    if (found?.kind !== kinds[kind]) return [`connections.yaml has no connection ${name} of the kind ${kinds[kind]}`];
    return found.agents.includes(agent) ? [] : [`the connection ${name} does not list the agent ${agent}`];
  });
}
