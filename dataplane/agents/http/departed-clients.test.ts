import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openBuiltAgent } from '../testing/built-agent.ts';
import { messageOf } from '../testing/start-agent.ts';

const channel = 'http.server.request.start';
const user = { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' };
const accept = { accept: 'application/json, text/event-stream' };

/** A version whose model never answers, and a client that leaves. */
async function open() {
  const agent = await openBuiltAgent();
  onTestFinished(() => agent[Symbol.asyncDispose]());
  agent.upstream.play({ kind: 'silence' });

  /** Sends a request whose client leaves while its identity is verified; returns when the server has noticed. */
  async function leave(path: string, body: object, headers: object = {}): Promise<void> {
    const held = Promise.withResolvers<void>();
    agent.holdIdentities(held.promise);
    const begun = Promise.withResolvers<ServerResponse>();
    const note = (message: unknown): void => {
      const { request: incoming, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (incoming.url === path && incoming.headers['x-test'] === 'leaves') begun.resolve(response);
    };
    subscribe(channel, note);
    const before = agent.asked();
    const sent = request(`${agent.url}${path}`, {
      method: 'POST',
      headers: { ...user, 'x-test': 'leaves', ...headers },
    });
    sent.on('error', () => undefined).end(JSON.stringify(body));
    const response = await begun.promise;
    unsubscribe(channel, note);
    await until('the identity is verified', () => agent.asked() > before);
    sent.destroy();
    await until('the server has noticed', () => response.destroyed);
    held.resolve();
  }
  return { agent, leave };
}

test.each(['/message:send', '/message:stream'])(
  'a call of %s is cancelled if its client left before its identity was verified',
  async (path) => {
    const { agent, leave } = await open();
    await leave(path, messageOf({ text: 'hello' }));
    expect(await until('the run has ended', () => agent.codes[0])).toBe('cancelled');
  },
);

test('a tool call is cancelled after a pause when its client has left, even before its identity was verified', async () => {
  const { agent, leave } = await open();
  const post = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${agent.url}/mcp`, {
      method: 'POST',
      headers: { ...user, ...accept, ...headers },
      body: JSON.stringify(body),
    });
  const message = (method: string, params: object, id?: number) => ({
    ...{ jsonrpc: '2.0', method, params },
    ...(id === undefined ? {} : { id }),
  });
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const session = (await post(message('initialize', hello, 1))).headers.get('mcp-session-id') ?? '';
  const known = { 'mcp-session-id': session, ...accept };
  expect((await post(message('notifications/initialized', {}), known)).status).toBe(202);
  const tools = (await (await post(message('tools/list', {}, 2), known)).json()) as {
    result: { tools: [{ name: string }] };
  };
  const { name } = tools.result.tools[0];
  await leave('/mcp', message('tools/call', { name, arguments: { question: 'why' } }, 3), known);
  await until('the model is asked', () => agent.upstream.seen.length > 0);
  expect(await until('the run has ended', () => agent.codes[0])).toBe('cancelled');
});
