import type { IncomingMessage, ServerResponse } from 'node:http';
import { CallRefused, type GatewayCall, type GatewayCallVerifier } from './verify-call.ts';

/** Answers a call that was verified. */
type AgentListener = (request: IncomingMessage, response: ServerResponse, call: GatewayCall) => unknown;

/** The operation that each path of an agent has in the tokens of the gateway. */
const operations: readonly (readonly [RegExp, string])[] = [
  [/^\/mcp$/, 'mcp'],
  [/^\/message:send$/, 'message:send'],
  [/^\/message:stream$/, 'message:stream'],
  [/^\/tasks$/, 'tasks:list'],
  [/^\/tasks\/[^/:]+$/, 'tasks:get'],
  [/^\/tasks\/[^/:]+:cancel$/, 'tasks:cancel'],
  [/^\/tasks\/[^/:]+:subscribe$/, 'tasks:subscribe'],
  [/^\/tasks\/[^/:]+\/pushNotificationConfigs(?:\/[^/:]+)?$/, 'tasks:push'],
  [/^\/extendedAgentCard$/, 'card:extended'],
];

const refusals = {
  401: { status: 'UNAUTHENTICATED', message: 'The call has no valid identity.' },
  404: { status: 'NOT_FOUND', message: 'There is no such path.' },
  503: { status: 'UNAVAILABLE', message: 'The identity of the call cannot be verified now.' },
} as const;

/**
 * A listener of `node:http` that forwards only calls with a valid identity. The platform requests health and card:
 * serve them before this listener.
 */
export function protectAgent(
  verifier: GatewayCallVerifier,
  listener: AgentListener,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    const operation = operations.find(([form]) => form.test(path))?.[1];
    if (operation === undefined) return refuse(response, 404);
    let call: GatewayCall;
    try {
      call = await verifier.verify(request.headers, operation);
    } catch (error) {
      return refuse(response, error instanceof CallRefused ? error.status : 503);
    }
    await listener(request, response, call);
  };
}

function refuse(response: ServerResponse, code: keyof typeof refusals): void {
  response.writeHead(code, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error: { code, ...refusals[code], details: [] } }));
}
