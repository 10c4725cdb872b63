import type { ConnectionTokenVerifier } from '#identity/connection-token';
import { readBearer } from '#identity/read-bearer';
import type { AgentTable } from '../routes/agent-table.ts';
import { ConnectionError } from './connection-error.ts';
import type { FlowConnections, OpenConnection } from './open-connections.ts';

export type ConnectionAdmission = {
  readonly table: Pick<AgentTable, 'versionOfRun'>;
  readonly connections: Pick<FlowConnections, 'find'>;
  readonly connectionTokens: ConnectionTokenVerifier;
};

const kinds = { http: 'Connection', mcp: 'Mcp' } as const;

/** Whether the version of a run requires the connection, and the connection names its agent. */
export function mayUseConnection(
  { table }: Pick<ConnectionAdmission, 'table'>,
  { connection }: Pick<OpenConnection, 'connection'>,
  run: { readonly agentId: string; readonly versionId: string },
): boolean {
  const found = table.versionOfRun(run);
  if (found === undefined) return false;
  const { requires } = found.version;
  const isRequired = requires.some(({ kind, name }) => kind === kinds[connection.kind] && name === connection.name);
  return isRequired && connection.agents.includes(found.agentName);
}

/** The connection that a request may call, and the agent of its run. @throws ConnectionError */
export async function admitConnectionCall(
  parts: ConnectionAdmission,
  name: string,
  rawHeaders: readonly string[],
): Promise<{ readonly open: OpenConnection; readonly agentId: string }> {
  const bearer = readBearer(rawHeaders);
  if (bearer.kind === 'refusal') throw new ConnectionError('unauthenticated');
  const client = await parts.connectionTokens.verify(bearer.token, name);
  if (client.kind === 'refusal') {
    throw new ConnectionError(client.status === 503 ? 'identity_unavailable' : 'unauthenticated');
  }
  const open = parts.connections.find(name);
  if (open === undefined || !mayUseConnection(parts, open, client)) throw new ConnectionError('connection_unknown');
  return { open, agentId: client.agentId };
}
