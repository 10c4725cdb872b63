import { expect, test } from 'vitest';
import { answerMessage, type McpServer } from './answer-message.ts';
import { headerFault } from './check-headers.ts';
import { clientMessageSchema } from './message.ts';

const server: McpServer<string> = {
  name: 'test',
  title: 'Test',
  version: '1.0.0',
  instructions: 'Say hello.',
  tools: [
    {
      name: 'greet',
      title: 'Greet',
      description: 'Greets.',
      inputSchema: { type: 'object' },
      isReadOnly: true,
      run: async (user, args) =>
        args['name'] === undefined
          ? { kind: 'refused', code: 'invalid_document', message: 'name is missing' }
          : { kind: 'result', value: { greeting: `${user} greets ${args['name']}` } },
    },
  ],
};

const ask = (message: object) =>
  answerMessage(server, clientMessageSchema.parse({ jsonrpc: '2.0', ...message }), 'ann');

test.each([
  ['2025-11-25', '2025-11-25'],
  ['2025-06-18', '2025-06-18'],
  ['2024-11-05', '2025-11-25'],
])('a client that requests the MCP version %s gets %s', async (asked, given) => {
  const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  expect(await ask({ id: 1, method: 'initialize', params })).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocolVersion: given,
      capabilities: { tools: { listChanged: false } },
      serverInfo: { name: 'test', title: 'Test', version: '1.0.0' },
      instructions: 'Say hello.',
    },
  });
});

test('the result of an MCP tool call has its value as structured content and as text; a refused call has text only', async () => {
  const call = (args: object) => ask({ id: 'a', method: 'tools/call', params: { name: 'greet', arguments: args } });
  const value = { greeting: 'ann greets bob' };
  const content = [{ type: 'text', text: JSON.stringify(value) }];
  expect((await call({ name: 'bob' }))?.result).toEqual({ content, structuredContent: value, isError: false });
  const refusal = { code: 'invalid_document', message: 'name is missing' };
  const refused = { content: [{ type: 'text', text: JSON.stringify(refusal) }], isError: true };
  expect((await call({}))?.result).toEqual(refused);
});

test.each([
  ['an unknown tool', 'tools/call', { name: 'other' }, -32_602],
  ['a call without a name', 'tools/call', {}, -32_602],
  ['arguments that are a list', 'tools/call', { name: 'greet', arguments: [] }, -32_602],
  ['a cursor of another server', 'tools/list', { cursor: 'x' }, -32_602],
  ['an initialize without a version', 'initialize', {}, -32_602],
  ['a method that the server does not offer', 'resources/list', {}, -32_601],
  ['a method that does not exist', 'nonsense', {}, -32_601],
])('%s is answered with an error and the id of the request', async (_what, method, params, code) => {
  expect(await ask({ id: 0, method, params })).toEqual({
    jsonrpc: '2.0',
    id: 0,
    error: { code, message: expect.any(String) },
  });
});

test('a ping is answered, and notifications and answers are not', async () => {
  expect(await ask({ id: 7, method: 'ping' })).toEqual({ jsonrpc: '2.0', id: 7, result: {} });
  expect(await ask({ method: 'notifications/initialized' })).toBeUndefined();
  expect(await ask({ id: 7, result: {} })).toBeUndefined();
});

test.each([
  ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }]],
  ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }],
  ['an id that is null', { jsonrpc: '2.0', id: null, method: 'ping' }],
  ['an id that is a fraction', { jsonrpc: '2.0', id: 1.5, method: 'ping' }],
  ['parameters in a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }],
  ['neither a method nor an id', { jsonrpc: '2.0' }],
])('%s is refused as an MCP message', (_what, json) => {
  expect(clientMessageSchema.safeParse(json).success).toBe(false);
});

test('requests of web pages and of unknown versions are refused, and a request without a version is accepted', () => {
  expect(headerFault({})).toBeUndefined();
  for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    expect(headerFault({ 'mcp-protocol-version': version })).toBeUndefined();
  }
  expect(headerFault({ 'mcp-protocol-version': '2024-11-05' })).toBe('unknown_version');
  expect(headerFault({ 'mcp-protocol-version': '2025-11-25, 2025-11-25' })).toBe('unknown_version');
  expect(headerFault({ origin: 'http://127.0.0.1' })).toBe('foreign_origin');
});
