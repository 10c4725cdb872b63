import type { IncomingMessage, ServerResponse } from 'node:http';
import { connectionsPath } from '#contracts/connections';
import { serveConnection } from '../connections/serve-connection.ts';
import type { AgentPlane } from './agent-plane.ts';
import { agentPrefix, serveAgentCall } from './serve-agent-call.ts';
import { keySetPath, serveKeySet, serveToken, tokenPath } from './serve-token.ts';

/** Answers a request for agents; undefined for any other path. */
export type AgentHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined;

/** Serves agents, the connections of their flows, the token exchange and the public keys. */
export function createAgentHandler(plane: AgentPlane): AgentHandler {
  return (incoming, outgoing) => {
    const url = incoming.url ?? '/';
    if (url.startsWith(agentPrefix)) return serveAgentCall(plane, incoming, outgoing);
    if (url.startsWith(connectionsPath)) return serveConnection(plane, incoming, outgoing);
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    if (path === tokenPath) return serveToken(plane, incoming, outgoing);
    return path === keySetPath ? serveKeySet(plane, incoming, outgoing) : undefined;
  };
}
