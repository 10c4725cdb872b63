import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { type ScriptedHttp, startScriptedHttp } from '#kit/testing/scripted-http';
import { startFollowed } from '#kit/testing/start-followed';
import { until } from '#kit/testing/until';
import type { RoutedVersion } from '#resources/agent-route';
import {
  type AgentPlaneWorld,
  agentId,
  firstVersion,
  gatewayIssuer,
  routedVersion,
  startAgentPlane,
} from '../../dataplane/gateway/agents/testing/start-agent-plane.ts';
import { routeSpec, storedRoute } from '../../dataplane/gateway/testing/route-builder.ts';
import { served } from '../../dataplane/gateway/testing/start-gateway.ts';
import { root } from '../../hack/check/run-tool.ts';
import { preparePython } from '../support/python.ts';

const folder = join(root, 'examples/sdk-agents');
const model = 'small';
const pieces = ['all ', 'is ', 'fine'];

type Program = { readonly program: string } | { readonly reason: string };
const languages: readonly (readonly [string, () => Promise<Program>, (name: string) => string])[] = [
  [
    'TypeScript',
    async () => ({ program: process.execPath }),
    (name) => join(folder, 'typescript', `${name.replace('_', '-')}.ts`),
  ],
  [
    'Python',
    async () => {
      const python = await preparePython(join(folder, 'python/requirements.txt'));
      return python.ok ? { program: python.path } : { reason: python.reason };
    },
    (name) => join(folder, 'python', `${name}.py`),
  ],
];

describe.each(languages)('the examples of agents in %s', (language, prepare, fileOf) => {
  let world: AgentPlaneWorld;
  let upstream: ScriptedHttp;
  let prepared: Program;

  beforeAll(async () => {
    prepared = await prepare();
    if ('reason' in prepared) return;
    world = await startAgentPlane();
    world.allow('ann', 'invoke');
    upstream = await startScriptedHttp((response, { text }) => {
      if (JSON.parse(text).stream !== true) {
        const choices = [{ message: { role: 'assistant', content: pieces.join('') } }];
        return void response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices }));
      }
      response.setHeader('content-type', 'text/event-stream');
      const chunk = (delta: object, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      for (const content of pieces) response.write(chunk({ content }, null));
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
    });
    world.gateway.routes.put(storedRoute(model, routeSpec(model, `${upstream.url}/v1`, { mode: 'None' })));
    await served(world.gateway, [model]);
  });
  afterAll(async () => {
    for (const one of [world, upstream]) await one?.[Symbol.asyncDispose]();
  });
  beforeEach((context) => {
    if ('reason' in prepared) context.skip(prepared.reason);
  });

  /** Starts an example as a version of the agent, and returns the content that it publishes at a path. */
  async function serve(name: string, published: string, change: (read: unknown) => Partial<RoutedVersion>) {
    if ('reason' in prepared) throw new Error(prepared.reason);
    const settings = { PORTCULLIS_GATEWAY_URL: world.url, PORTCULLIS_GATEWAY_ISSUER: gatewayIssuer, MODELS: model };
    const at = { AGENT_ID: agentId, VERSION_ID: firstVersion, HOST: '127.0.0.1', PORT: '0' };
    const env = { ...process.env, ...settings, ...at, PYTHONDONTWRITEBYTECODE: '1' };
    const child = startFollowed([prepared.program, fileOf(name)], { cwd: root, env });
    onTestFinished(async () => void (await child.end()));
    const url = `http://127.0.0.1:${/port (\d+)/.exec(await child.listens(`${name} in ${language}`))?.[1]}`;
    const read: unknown = await until(`${name} in ${language} answers`, async () => {
      const answer = await fetch(`${url}${published}`).catch(() => undefined);
      return await answer?.json();
    });
    // Times in tokens are whole seconds, and a process refuses tokens from before its start.
    await pause(1_000);
    await world.serve({
      versions: [routedVersion({ url }, { requires: [{ kind: 'Model', name: model }], ...change(read) })],
    });
    return read;
  }
  const call = async (path: string, body: object) =>
    await world.call(`/agents/${agentId}${path}`, {
      token: await world.personToken('ann'),
      body: JSON.stringify(body),
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
    });

  test("the streaming example agent sends the pieces of a model's answer as the artifact of a completed task", async () => {
    await serve('streaming_agent', '/.well-known/agent-card.json', (card) => ({
      modes: ['A2A'],
      cardDigest: digestOf(card as object),
    }));
    const message = { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'How are you?' }] };
    const answer = await call('/message:stream', { message });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const events = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events[0]).toMatchObject({ task: { status: { state: 'TASK_STATE_WORKING' } } });
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
    const updates = events.slice(1, -1).map(({ artifactUpdate }) => artifactUpdate);
    expect(updates.map(({ artifact }) => artifact.parts[0].text)).toEqual([...pieces, '']);
    expect(updates.map(({ append, lastChunk }) => [append, lastChunk])).toEqual([
      [false, false],
      [true, false],
      [true, false],
      [true, true],
    ]);
    expect((await call('/message:send', { message })).status).toBe(400);
    expect((await call('/message:stream', {})).status).toBe(400);
  });

  test('the example tool is listed, answers with the text of a model, and refuses other methods and arguments', async () => {
    const listed = await serve('mcp_tool', '/.well-known/mcp-tools.json', () => ({ modes: ['MCP'] }));
    const rpc = async (method: string, params: object = {}) =>
      (await (await call('/mcp', { jsonrpc: '2.0', id: 1, method, params })).json()) as object;
    expect(await rpc('initialize')).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
    expect((await call('/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect(await rpc('tools/list')).toMatchObject({ id: 1, result: listed as object });
    expect(await rpc('tools/call', { name: 'ask', arguments: { text: 'How are you?' } })).toMatchObject({
      result: { content: [{ type: 'text', text: 'all is fine' }], structuredContent: { answer: 'all is fine' } },
    });
    expect(await rpc('tools/call', { name: 'ask', arguments: {} })).toMatchObject({ error: { code: -32_602 } });
    expect(await rpc('resources/list')).toMatchObject({ error: { code: -32_601 } });
  });
});
