// An agent over MCP: one tool that calls a model. The settings and the packages are the same as for example-agent.ts.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json as readJson } from 'node:stream/consumers';
import { callModel } from './call-model.ts';
import { readConfig } from './config.ts';
import { protectAgent } from './protect-agent.ts';
import { createCallVerifier, type GatewayCall } from './verify-call.ts';

const { gateway, issuer, agentId, versionId, model, host, port } = readConfig();

const tools = [
  {
    name: 'ask',
    description: 'Asks a model.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    outputSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
  },
];

type RpcMessage = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: { readonly text?: unknown } };
};

const send = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

async function resultOf({ method, params }: RpcMessage, call: GatewayCall): Promise<object> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: false } },
        serverInfo: { name: 'example-tool', version: '1' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools };
    case 'tools/call':
      return await callTool(params, call);
    default:
      throw new RpcError(-32_601, 'There is no such method.');
  }
}

async function callTool(params: RpcMessage['params'], call: GatewayCall): Promise<object> {
  const content = params?.arguments?.text;
  if (params?.name !== 'ask' || typeof content !== 'string') throw new RpcError(-32_602, 'Call ask with a text.');
  try {
    const answer = await callModel(call, { gateway, model, content });
    return { content: [{ type: 'text', text: answer }], structuredContent: { answer } };
  } catch {
    // The model of the client can try again: an error of the tool, not of the protocol.
    return { content: [{ type: 'text', text: 'The model does not answer now.' }], isError: true };
  }
}

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** No session is kept: each message is answered independently. */
async function answer(request: IncomingMessage, response: ServerResponse, call: GatewayCall): Promise<void> {
  if (call.operation !== 'mcp') return send(response, 404, { error: { code: 404, status: 'NOT_FOUND' } });
  const message = (await readJson(request).catch(() => ({}))) as RpcMessage;
  const { id } = message;
  if (id === undefined) return void response.writeHead(202).end();
  try {
    send(response, 200, { jsonrpc: '2.0', id, result: await resultOf(message, call) });
  } catch (error) {
    const { code, message: why } = error instanceof RpcError ? error : new RpcError(-32_603, 'The call failed.');
    send(response, 200, { jsonrpc: '2.0', id, error: { code, message: why } });
  }
}

const protectedCalls = protectAgent(createCallVerifier({ gateway, issuer, agentId, versionId }), answer);
const server = createServer((request, response) => {
  if (request.url === '/health/live' || request.url === '/health/ready') return send(response, 200, { status: 'ok' });
  // The platform compares it with the tool that the version names.
  if (request.url === '/.well-known/mcp-tools.json') return send(response, 200, { tools });
  protectedCalls(request, response).catch(() => response.destroy());
});
server.listen(port, host, () => {
  process.stdout.write(`listening on port ${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => server.close());
