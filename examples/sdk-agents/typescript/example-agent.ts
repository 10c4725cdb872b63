// An agent that calls a model in the name of the calling person. Needs: npm install jose Usage:
// PORTCULLIS_GATEWAY_URL=URL PORTCULLIS_GATEWAY_ISSUER=ISSUER AGENT_ID=ID VERSION_ID=ID MODEL=ALIAS PORT=8080 \
//   node example-agent.ts
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { callModel } from './call-model.ts';
import { readConfig } from './config.ts';
import { protectAgent } from './protect-agent.ts';
import { ExchangeRefused } from './trade-grant.ts';
import { createCallVerifier } from './verify-call.ts';

const { gateway, issuer, agentId, versionId, model, host, port } = readConfig();

/** The card names the address at the gateway; the address of this process is known to the gateway only. */
const card = {
  name: 'Example',
  description: 'Answers with the text of a model.',
  version: '1',
  supportedInterfaces: [
    {
      url: new URL(`/agents/${agentId}/versions/${versionId}`, gateway).href,
      protocolBinding: 'HTTP+JSON',
      protocolVersion: '1.0',
    },
  ],
  capabilities: { streaming: false, pushNotifications: false, extendedAgentCard: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'ask', name: 'Ask', description: 'Asks a model.', tags: ['model'] }],
  securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } } },
  securityRequirements: [{ schemes: { bearer: { list: [] } } }],
};

type Message = { readonly contextId?: string; readonly parts: readonly { readonly text?: string }[] };

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

/** The message of a call and its text; undefined for a body of another form. */
async function readMessage(request: IncomingMessage): Promise<(Message & { readonly text: string }) | undefined> {
  try {
    const { message } = (await readJson(request)) as { readonly message: Message };
    return { ...message, text: message.parts.map(({ text = '' }) => text).join('\n') };
  } catch {
    return undefined;
  }
}

const protectedCalls = protectAgent(
  createCallVerifier({ gateway, issuer, agentId, versionId }),
  async (request, response, call) => {
    if (call.operation !== 'message:send') return send(response, 404, { error: { code: 404, status: 'NOT_FOUND' } });
    const message = await readMessage(request);
    if (message === undefined) return send(response, 400, { error: { code: 400, status: 'INVALID_ARGUMENT' } });
    try {
      const parts = [{ text: await callModel(call, { gateway, model, content: message.text }) }];
      const { contextId = randomUUID() } = message;
      send(response, 200, { message: { messageId: randomUUID(), contextId, role: 'ROLE_AGENT', parts } });
    } catch (error) {
      const status = error instanceof ExchangeRefused && error.code !== 'temporarily_unavailable' ? 403 : 503;
      send(response, status, { error: { code: status, status: status === 403 ? 'PERMISSION_DENIED' : 'UNAVAILABLE' } });
    }
  },
);

const server = createServer((request, response) => {
  if (request.url === '/health/live' || request.url === '/health/ready') return send(response, 200, { status: 'ok' });
  if (request.url === '/.well-known/agent-card.json') return send(response, 200, card);
  protectedCalls(request, response).catch(() => response.destroy());
});
server.listen(port, host, () => {
  process.stdout.write(`listening on port ${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => server.close());
