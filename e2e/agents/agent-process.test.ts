import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentBundle, questionFlow } from '../../dataplane/agents/testing/agent-bundle.ts';
import { errorCodeOf, messageOf } from '../../dataplane/agents/testing/start-agent.ts';
import { deniedTerm, maskedTerm, replacement } from '../support/sample-policy.ts';
import { verifies } from '../support/verifies.ts';
import { type AgentProcess, startAgentProcess } from './start-agent-process.ts';

let world: AgentProcess;
beforeAll(async () => {
  world = await startAgentProcess((model, policy) =>
    agentBundle({
      flow: questionFlow(model),
      bundle: { requires: [{ kind: 'model', name: model }], guardrails: { input: policy, output: policy } },
    }),
  );
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Calls the process once, with this token or without a token. */
async function call(token: string | undefined, path = '/message:send', body: object = messageOf({ text: 'hello' })) {
  const answer = await fetch(`${world.agent.url}${path}`, {
    method: 'POST',
    headers: {
      'a2a-version': '1.0',
      'content-type': 'application/json',
      'x-user-id': 'ann',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}
const asked = () => world.platform.upstream.seen.length;

verifies(
  ['agents:internal-address:not-for-clients', 'agents:order:execute-right'],
  'only a gateway token for this version and operation runs the flow, and each token is accepted once',
  async () => {
    world.platform.upstream.play({ kind: 'answer', content: 'a healthy answer' });
    const before = asked();
    const operation = 'message:send';
    const used = await world.token(operation);
    expect(await call(used)).toMatchObject({
      status: 200,
      json: { message: { parts: [{ text: 'a healthy answer' }, { data: { answer: 'a healthy answer' } }] } },
    });
    expect(asked()).toBe(before + 1);
    const valid = await world.token(operation);
    const refused = [
      undefined,
      world.platform.key,
      used,
      `${valid.slice(0, -8)}AAAAAAA${valid.at(-1)}`,
      await world.token('message:stream'),
      await world.token(operation, { versionId: '01890a5d-ac96-774b-bcce-b302099a8099' }),
      await world.token(operation, { agentId: '01890a5d-ac96-774b-bcce-b302099a8099' }),
      await world.token(operation, { issuer: 'https://other.example' }),
    ];
    for (const [at, token] of refused.entries()) {
      const answer = await call(token);
      expect([at, answer.status, errorCodeOf(answer)]).toEqual([at, 401, 'unauthenticated']);
    }
    expect(asked()).toBe(before + 1);
    expect((await call(valid)).status).toBe(200);
  },
);

test('the policies of the version check the input before it reaches the model and the output before it reaches the client', async () => {
  const send = async (text: string) => call(await world.token('message:send'), '/message:send', messageOf({ text }));
  const before = asked();
  expect(await send(deniedTerm)).toMatchObject({ status: 403 });
  expect(asked()).toBe(before);
  world.platform.upstream.play({ kind: 'answer', content: 'fine' });
  expect((await send(`about ${maskedTerm}`)).status).toBe(200);
  expect(world.platform.upstream.seen.at(-1)?.text).toContain(`about ${replacement}`);
});

verifies(
  ['agents:mcp:needs-conformance'],
  'the official client of MCP calls the tool in a process that has confirmed MCP at its start',
  async () => {
    world.platform.upstream.play({ kind: 'answer', content: 'a healthy answer' });
    const state = (await (await fetch(`${String(world.agent.ready['admin'])}/state`)).json()) as object;
    expect(state).toMatchObject({ ready: true, capabilities: { 'mcp.tool': true } });
    const transport = new StreamableHTTPClientTransport(new URL(`${world.agent.url}/mcp`), {
      fetch: world.gatewayFetch,
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['answer_question']);
    const answer = await client.callTool({ name: 'answer_question', arguments: { question: 'hello' } });
    expect(answer.structuredContent).toEqual({ answer: 'a healthy answer' });
    await transport.terminateSession();
    await client.close();
  },
);
