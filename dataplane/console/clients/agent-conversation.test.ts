import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { converse } from './agent-conversation.ts';

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

type Seen = { readonly path: string; readonly message: Record<string, unknown> };

/** Runs one turn against a server; returns the parts of the reply, and the requests that the server received. */
async function turn(
  answers: Readonly<Record<string, (response: ServerResponse) => void>>,
  said: { readonly contextId?: string; readonly taskId?: string } = {},
) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').slice(1);
    seen.push({ path, ...((await readJson(request)) as { readonly message: Record<string, unknown> }) });
    answers[path]?.(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const agent = new URL(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
  agent.pathname = '';
  try {
    const { contextId, taskId } = said;
    const signal = new AbortController().signal;
    const call = { agent: { href: agent.origin } as URL, headers: {}, text: 'hello', contextId, taskId, signal };
    return { parts: await Array.fromAsync(converse(call)), seen };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const notFound = (response: ServerResponse) =>
  response.writeHead(404).end(JSON.stringify({ error: { code: 404, status: 'NOT_FOUND' } }));

test('the console requests a complete answer from an agent whose process does not support streams', async () => {
  const { parts, seen } = await turn({
    'message:stream': notFound,
    'message:send': (response) => response.end(JSON.stringify({ message: { parts: [{ text: 'Good day' }] } })),
  });
  expect(parts.slice(1)).toEqual([{ kind: 'text', text: 'Good day' }, { kind: 'ended' }]);
  expect(seen.map(({ path }) => path)).toEqual(['message:stream', 'message:send']);
});

test('an agent that refuses both streamed and complete answers is a failure with the status', async () => {
  const { parts } = await turn({ 'message:stream': notFound, 'message:send': notFound });
  expect(parts).toEqual([{ kind: 'failed', code: '404', message: '' }]);
});

test('a complete answer that is not a reply of A2A is a failure', async () => {
  const { parts } = await turn({ 'message:stream': notFound, 'message:send': (response) => response.end('{}') });
  expect(parts).toMatchObject([{ kind: 'failed', code: 'upstream_error' }]);
});

test('the error event that ends a stream keeps its code', async () => {
  const details = [{ domain: 'portcullis', reason: 'guardrail_denied' }];
  const body = JSON.stringify({ error: { code: 403, message: 'Denied.', details } });
  const { parts, seen } = await turn({
    'message:stream': (response) =>
      response.end(`${event({ task: { id: 't', contextId: 'c' } })}event: error\ndata: ${body}\n\n`),
  });
  expect(parts.at(-1)).toEqual({ kind: 'failed', code: 'guardrail_denied', message: 'Denied.' });
  expect(seen.map(({ path }) => path)).toEqual(['message:stream']);
});

test('the answer to a question of the agent names its task', async () => {
  const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'When?' }] } };
  const asking = (response: ServerResponse) =>
    response.end(`${event({ task: { id: 't', contextId: 'c' } })}${event({ statusUpdate: { status } })}`);
  const { parts, seen } = await turn({ 'message:stream': asking }, { contextId: 'c', taskId: 't' });
  expect(parts.slice(1)).toEqual([{ kind: 'text', text: 'When?' }, { kind: 'asked' }]);
  expect(seen[0]?.message).toMatchObject({ contextId: 'c', taskId: 't', parts: [{ text: 'hello' }] });
});
