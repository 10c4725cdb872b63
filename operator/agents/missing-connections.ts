import type { AgentBundle } from '#contracts/agent-bundle';
import type { FlowConnection } from '#environment/connections-file';

const kinds = { connection: 'http', mcp: 'mcp' } as const;

/**
 * The connections that a version requires but the environment does not have for its agent, one sentence each. Runs of
 * such a version would get no token for these connections.
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
