import { writeFile } from 'node:fs/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AgentBundle } from '#contracts/agent-bundle';
import type { AgentState } from '#contracts/agent-state';
import { verifies } from '../../../e2e/support/verifies.ts';
import { agentBundle, questionFlow } from '../testing/agent-bundle.ts';
import { type RunningAgent, startAgent } from '../testing/start-agent.ts';

const annotations = { readOnlyHint: true, destructiveHint: false };
const mcp = { toolName: 'answer_question', title: 'Answer!', description: 'Answers a question.', annotations };

let agent: RunningAgent;
beforeAll(async () => {
  agent = await startAgent({ bundle: agentBundle({ manifest: { mcp } }) });
});
afterAll(() => agent[Symbol.asyncDispose]());

async function connect(user = 'ann', url = agent.url) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { 'x-user-id': user } },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  const session = transport.sessionId ?? '';
  const dispose = async (): Promise<void> => {
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  };
  return { client, session, [Symbol.asyncDispose]: dispose };
}

const accept = { accept: 'application/json, text/event-stream' };
const rpc = (method: string, params: object = {}, id: number | undefined = 1) => ({
  jsonrpc: '2.0',
  method,
  params,
  ...(method.startsWith('notifications/') ? {} : { id }),
});
const post = (body: unknown, headers: Record<string, string> = {}) =>
  agent.call('POST', '/mcp', body, { ...accept, 'a2a-version': '', ...headers });
const errorOf = (answer: { readonly json: Record<string, unknown> }) => answer.json['error'] as { code: number };
const runsOf = async () => ((await (await fetch(`${agent.adminUrl}/runs`)).json()) as { runs: unknown[] }).runs.length;
const initialize = rpc('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
async function open(): Promise<Record<string, string>> {
  const session = (await post(initialize)).headers.get('mcp-session-id') ?? '';
  const headers = { 'mcp-session-id': session };
  expect((await post(rpc('notifications/initialized'), headers)).status).toBe(202);
  return headers;
}

verifies(
  [
    'agents:mcp:one-tool',
    'agents:mcp:tool-schemas',
    'agents:mcp:list-changed-false',
    'agents:mcp:no-list-changed-notification',
  ],
  'the official MCP client lists one tool with its schemas, always the same one, and receives no notification',
  async () => {
    await using connected = await connect();
    const { client, session } = connected;
    const notifications: unknown[] = [];
    client.fallbackNotificationHandler = async (notification) => void notifications.push(notification);
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: false } });
    const flow = questionFlow() as { input: { schema: object }; output: { schema: object } };
    const expected = {
      name: 'answer_question',
      title: 'Answer!',
      description: 'Answers a question.',
      inputSchema: flow.input.schema,
      outputSchema: flow.output.schema,
      annotations,
    };
    expect((await client.listTools()).tools).toEqual([expected]);
    await client.callTool({ name: 'answer_question', arguments: { question: 'why' } });
    expect((await client.listTools()).tools).toEqual([expected]);
    // The only way of a server to notify without a request is a stream that the client opens with GET.
    const stream = await agent.call('GET', '/mcp', undefined, { ...accept, 'mcp-session-id': session });
    expect([stream.status, notifications]).toEqual([405, []]);
  },
);

verifies(
  ['agents:mcp:tool-name', 'agents:mcp:definition-change'],
  'every start of a version lists the same tool, even after its file was changed, and another description needs another version',
  async () => {
    const toolsOf = async (url: string) => {
      await using connected = await connect('ann', url);
      return (await connected.client.listTools()).tools;
    };
    const [bundle, other] = ['Answers a question.', 'Answers each question.'].map((description) =>
      agentBundle({ manifest: { mcp: { ...mcp, description } } }),
    ) as [AgentBundle, AgentBundle];
    const before = await toolsOf(agent.url);
    expect(before).toMatchObject([{ name: 'answer_question', description: 'Answers a question.' }]);
    await writeFile(agent.bundleFile, JSON.stringify(other));
    expect(await toolsOf(agent.url)).toEqual(before);
    await using second = await startAgent({ bundle });
    expect(await toolsOf(second.url)).toEqual(before);
    await using changed = await startAgent({ bundle: other });
    expect(await toolsOf(changed.url)).toMatchObject([
      { name: 'answer_question', description: 'Answers each question.' },
    ]);
    const [running, next] = await Promise.all(
      [agent, changed].map(async ({ adminUrl }) => (await (await fetch(`${adminUrl}/state`)).json()) as AgentState),
    );
    expect([running?.digest, next?.digest]).toEqual([bundle.digest, other.digest]);
    expect(bundle.digest).not.toBe(other.digest);
  },
);

verifies(
  ['agents:mcp:call-result', 'agents:mcp:call-shared-flow', 'agents:schema:output', 'agents:flow:a2a-and-mcp'],
  'a tool call runs the same flow as A2A and returns a structured value that matches the schema',
  async () => {
    await using connected = await connect();
    const args = { question: 'why', limit: 2 };
    const called = await connected.client.callTool({ name: 'answer_question', arguments: args });
    expect(called).toEqual({
      content: [{ type: 'text', text: '{"answer":"why"}' }],
      structuredContent: { answer: 'why' },
      isError: false,
    });
    const sent = await agent.call('POST', '/message:send', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: args }] },
    });
    expect(sent.json).toMatchObject({ message: { parts: [{ text: 'why' }, { data: called.structuredContent }] } });
    const runs = (await (await fetch(`${agent.adminUrl}/runs`)).json()) as { runs: { nodes: { path: string }[] }[] };
    const paths = runs.runs.slice(0, 2).map(({ nodes }) => nodes.map(({ path }) => path));
    expect(paths[0]).toEqual(paths[1]);
  },
);

verifies(
  ['agents:mcp:call-validates', 'agents:mcp:title-apart'],
  'tool arguments that do not match the schema are a tool error, a call by the title of the tool is a protocol error, and neither runs the flow',
  async () => {
    await using connected = await connect();
    const { client } = connected;
    const before = await runsOf();
    for (const args of [{}, { question: 1 }, { question: 'x', other: true }]) {
      const answer = await client.callTool({ name: 'answer_question', arguments: args });
      const [content] = answer.content as { text: string }[];
      expect(answer.isError).toBe(true);
      expect(JSON.parse(content?.text ?? '')).toEqual({
        code: 'input_invalid',
        message: 'The input does not match the input schema of the agent.',
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
    }
    await expect(client.callTool({ name: 'Answer!', arguments: { question: 'x' } })).rejects.toMatchObject({
      code: -32_602,
    });
    expect(await runsOf()).toBe(before);
  },
);

verifies(
  [
    'agents:mcp:no-resources',
    'agents:mcp:no-resource-templates',
    'agents:mcp:no-prompts',
    'agents:mcp:no-sampling',
    'agents:mcp:no-roots',
    'agents:mcp:no-elicitation',
    'agents:mcp:no-logging-control',
    'agents:mcp:no-experimental-tasks',
    'agents:mcp:wrong-method',
  ],
  'every other method is answered with a typed error and the id of its request, and no flow runs',
  async () => {
    const session = await open();
    const before = await runsOf();
    const methods = [
      'resources/list',
      'resources/read',
      'resources/subscribe',
      'resources/templates/list',
      'prompts/list',
      'prompts/get',
      'sampling/createMessage',
      'roots/list',
      'elicitation/create',
      'logging/setLevel',
      'completion/complete',
      'tasks/list',
      'tasks/get',
      'tasks/cancel',
      'message:send',
    ];
    for (const [id, method] of methods.entries()) {
      const answer = await post(rpc(method, {}, id), session);
      expect([method, answer.status, answer.json]).toMatchObject([method, 200, { id, error: { code: -32_601 } }]);
    }
    expect(await runsOf()).toBe(before);
  },
);

verifies(
  ['agents:mcp:initialize', 'agents:version:mcp'],
  'a session opens for 2025-11-25, can be used only after its initialization is complete, and ends with DELETE',
  async () => {
    for (const protocolVersion of ['2025-11-25', '2025-06-18', '2099-01-01']) {
      const asked = { ...initialize, params: { ...initialize.params, protocolVersion } };
      expect((await post(asked)).json).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    }
    const session = { 'mcp-session-id': (await post(initialize)).headers.get('mcp-session-id') ?? '' };
    expect(errorOf(await post(rpc('tools/list'), session)).code).toBe(-32_600);
    expect((await post(rpc('ping'), session)).json).toMatchObject({ result: {} });
    expect((await post(rpc('notifications/initialized'), session)).status).toBe(202);
    expect((await post(rpc('tools/list'), session)).json).toMatchObject({ result: { tools: [{}] } });
    expect((await agent.call('DELETE', '/mcp', undefined, session)).status).toBe(204);
    expect((await post(rpc('tools/list'), session)).status).toBe(404);
    expect((await post(rpc('tools/list'))).status).toBe(400);
  },
);

test('invalid messages and other media types, origins and protocol versions are refused', async () => {
  const session = await open();
  const list = rpc('tools/list');
  expect((await post('{', session)).json).toMatchObject({ id: null, error: { code: -32_700 } });
  expect((await post('{"id":1,"id":1}', session)).json).toMatchObject({ id: null, error: { code: -32_700 } });
  expect((await post({ jsonrpc: '1.0' }, session)).json).toMatchObject({ id: null, error: { code: -32_600 } });
  expect((await post([list], session)).status).toBe(400);
  expect((await post(list, { ...session, 'content-type': 'text/plain' })).status).toBe(415);
  expect((await post(list, { ...session, accept: 'application/json' })).status).toBe(406);
  expect((await post(list, { ...session, origin: 'https://evil.example' })).status).toBe(403);
  expect((await post(list, { ...session, 'mcp-protocol-version': '2025-06-18' })).status).toBe(400);
  expect((await post(list, { ...session, 'mcp-protocol-version': '2025-11-25' })).status).toBe(200);
  const get = await agent.call('GET', '/mcp', undefined, session);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, DELETE']);
});

verifies(
  [
    'agents:mcp-auth:no-identity-from-session',
    'agents:mcp-auth:no-identity-from-request',
    'agents:mcp-auth:r1-only',
    'agents:mcp-auth:no-inherited-mode',
    'agents:mcp:annotations-no-permission',
  ],
  'an MCP session does not identify its caller, and callers outside of the list of confirmers get 404 although they may use A2A',
  async () => {
    const session = await open();
    const call = rpc('tools/call', {
      name: 'answer_question',
      arguments: { question: 'x' },
      _meta: { user: 'ann', 'x-user-id': 'ann' },
    });
    expect((await post(call, session)).json).toMatchObject({ result: { isError: false } });
    const before = await runsOf();
    expect((await post(call, { ...session, 'x-user-id': '' })).status).toBe(401);
    expect((await post(call, { ...session, 'x-user-id': 'bob' })).status).toBe(404);
    expect((await post(initialize, { 'x-user-id': 'bob' })).status).toBe(404);
    expect(await runsOf()).toBe(before);
    const message = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] } };
    expect((await agent.call('POST', '/message:send', message, { 'x-user-id': 'bob' })).status).toBe(200);
  },
);

test('a session can be used only by its caller, even among callers that may use MCP', async () => {
  await using two = await startAgent({
    bundle: agentBundle(),
    config: { mcpConfirmers: ['development:agents|ann', 'development:agents|bob'] },
  });
  const headers = { ...accept, 'a2a-version': '' };
  const opened = await two.call('POST', '/mcp', initialize, headers);
  const session = { ...headers, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  expect((await two.call('POST', '/mcp', rpc('ping'), session)).status).toBe(200);
  expect((await two.call('POST', '/mcp', rpc('ping'), { ...session, 'x-user-id': 'bob' })).status).toBe(404);
  expect((await two.call('DELETE', '/mcp', undefined, { ...session, 'x-user-id': 'bob' })).status).toBe(404);
  expect((await two.call('POST', '/mcp', rpc('ping'), session)).status).toBe(200);
});

verifies(
  ['agents:mcp:needs-mcp-tool'],
  'an agent whose manifest does not list the mode mcp_tool serves no MCP',
  async () => {
    await using without = await startAgent({ bundle: agentBundle({ manifest: { executionModes: ['a2a_agent'] } }) });
    expect((await without.call('POST', '/mcp', initialize, accept)).status).toBe(404);
    expect((await without.call('POST', '/message:send', {})).status).toBe(400);
  },
);
