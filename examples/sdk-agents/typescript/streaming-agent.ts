// An agent over A2A that streams the answer of a model. The settings and the packages are the same as for
// example-agent.ts.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { streamModel } from './call-model.ts';
import { readConfig } from './config.ts';
import { protectAgent } from './protect-agent.ts';
import { ExchangeRefused } from './trade-grant.ts';
import { createCallVerifier, type GatewayCall } from './verify-call.ts';

const { gateway, issuer, agentId, versionId, model, host, port } = readConfig();

const card = {
  name: 'Streaming example',
  description: 'Streams the answer of a model.',
  version: '1',
  supportedInterfaces: [
    {
      url: new URL(`/agents/${agentId}/versions/${versionId}`, gateway).href,
      protocolBinding: 'HTTP+JSON',
      protocolVersion: '1.0',
    },
  ],
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
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

/** Answers with a task: first the task, then its artifact in pieces, then its end. */
async function answer(request: IncomingMessage, response: ServerResponse, call: GatewayCall): Promise<void> {
  if (call.operation !== 'message:stream') {
    return send(response, 400, { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'Use message:stream.' } });
  }
  const body = (await readJson(request).catch(() => undefined)) as { readonly message?: Message } | undefined;
  if (!Array.isArray(body?.message?.parts)) {
    return send(response, 400, { error: { code: 400, status: 'INVALID_ARGUMENT' } });
  }
  const { contextId = randomUUID(), parts } = body.message as Message;
  const content = parts.map(({ text = '' }) => text).join('\n');
  const [taskId, artifactId] = [randomUUID(), randomUUID()];
  const write = (event: object): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
  const end = (state: string): void => {
    write({ statusUpdate: { taskId, contextId, status: { state, timestamp: new Date().toISOString() } } });
    response.end();
  };
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  write({ task: { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } } });
  try {
    let append = false;
    const piece = (text: string, lastChunk: boolean): void => {
      write({ artifactUpdate: { taskId, contextId, artifact: { artifactId, parts: [{ text }] }, append, lastChunk } });
      append = true;
    };
    for await (const text of streamModel(call, { gateway, model, content })) piece(text, false);
    piece('', true);
    end('TASK_STATE_COMPLETED');
  } catch (error) {
    end(
      error instanceof ExchangeRefused && error.code !== 'temporarily_unavailable'
        ? 'TASK_STATE_REJECTED'
        : 'TASK_STATE_FAILED',
    );
  }
}

const protectedCalls = protectAgent(createCallVerifier({ gateway, issuer, agentId, versionId }), answer);
const server = createServer((request, response) => {
  if (request.url === '/health/live' || request.url === '/health/ready') return send(response, 200, { status: 'ok' });
  if (request.url === '/.well-known/agent-card.json') return send(response, 200, card);
  protectedCalls(request, response).catch(() => response.destroy());
});
server.listen(port, host, () => {
  process.stdout.write(`listening on port ${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => server.close());
