// An agent of an SDK for tests: answers with the text of the message, whole or as a stream, over A2A and MCP.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../examples/sdk-agents/typescript/config.ts';
import { protectAgent } from '../../examples/sdk-agents/typescript/protect-agent.ts';
import { createCallVerifier } from '../../examples/sdk-agents/typescript/verify-call.ts';

const config = readConfig();
const card = {
  name: 'Repeater',
  description: 'Repeats a text.',
  version: '1',
  supportedInterfaces: [{ url: 'https://elsewhere.example', protocolBinding: 'GRPC', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats a text.', tags: ['test'] }],
  signatures: [{ protected: 'e30', signature: 'foreign' }],
};
const tools = [
  { name: 'repeat', description: 'Repeats a text.', inputSchema: { type: 'object' } },
  { name: 'hidden', description: 'Is not the tool of the route.', inputSchema: { type: 'object' } },
];

type Part = { readonly text?: string; readonly data?: unknown };
/** `pieces` of the data of a message are the pieces of the streamed artifact; `pauseMs` is the time between two. */
type Told = { readonly pieces?: readonly string[]; readonly pauseMs?: number; readonly answer?: unknown };

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'x-secret': 'of the process' });
  response.end(JSON.stringify(body));
};

async function stream(response: ServerResponse, { pieces = [], pauseMs = 0 }: Told): Promise<void> {
  const [taskId, contextId, artifactId] = [randomUUID(), randomUUID(), randomUUID()];
  const write = (event: object): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
  const status = (state: string) => ({ taskId, contextId, status: { state, timestamp: new Date().toISOString() } });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  write({ task: { id: taskId, contextId, status: { state: 'TASK_STATE_WORKING' } } });
  for (const [index, text] of pieces.entries()) {
    const artifact = { artifactId, name: 'answer', parts: [{ text }] };
    const lastChunk = index === pieces.length - 1;
    write({ artifactUpdate: { taskId, contextId, artifact, append: index > 0, lastChunk } });
    if (pauseMs > 0) await pause(pauseMs);
  }
  write({ statusUpdate: status('TASK_STATE_COMPLETED') });
  response.end();
}

async function answerMcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { id, method, params } = (await readJson(request)) as {
    readonly id?: unknown;
    readonly method: string;
    readonly params?: { readonly arguments?: { readonly text?: string } };
  };
  if (method === 'tools/list') return send(response, 200, { jsonrpc: '2.0', id, result: { tools } });
  const content = [{ type: 'text', text: params?.arguments?.text ?? '' }];
  send(response, 200, { jsonrpc: '2.0', id, result: { content, structuredContent: params?.arguments ?? {} } });
}

async function answer(request: IncomingMessage, response: ServerResponse, operation: string): Promise<void> {
  if (operation === 'mcp') return await answerMcp(request, response);
  const { message } = (await readJson(request)) as { readonly message: { readonly parts: readonly Part[] } };
  const told = (message.parts.find(({ data }) => data !== undefined)?.data ?? {}) as Told;
  if (operation === 'message:stream') return await stream(response, told);
  if (told.answer !== undefined) return send(response, 200, told.answer as object);
  const parts = message.parts.map(({ text = '' }) => ({ text }));
  send(response, 200, { message: { messageId: randomUUID(), contextId: randomUUID(), role: 'ROLE_AGENT', parts } });
}

const protectedCalls = protectAgent(createCallVerifier(config), (request, response, { operation }) =>
  answer(request, response, operation),
);
const server = createServer((request, response) => {
  if (request.url === '/health/ready') return send(response, 200, {});
  if (request.url === '/.well-known/agent-card.json') return send(response, 200, card);
  if (request.url === '/.well-known/mcp-tools.json') return send(response, 200, { tools });
  protectedCalls(request, response).catch(() => response.destroy());
});
server.listen(config.port, config.host, () => {
  process.stdout.write(`listening on port ${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => server.close());
