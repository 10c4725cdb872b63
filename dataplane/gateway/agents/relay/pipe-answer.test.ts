import { once } from 'node:events';
import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { request } from 'undici';
import { expect, test, vi } from 'vitest';
import { type Script, startScriptedHttp } from '#kit/testing/scripted-http';
import { pipeAnswer } from './pipe-answer.ts';

const body = '{"id":"one"}';
const json = { 'content-type': 'application/json' };

type Sent = { readonly status: number; readonly text: string; readonly writes: number };

/**
 * A client calls a server that forwards the answer of a process; `writes` are those to the connection of the client.
 */
async function send(script: Script, head: OutgoingHttpHeaders, stream?: { onHead: () => void }): Promise<Sent> {
  await using process = await startScriptedHttp(script);
  const counts: (() => number)[] = [];
  const relay = async (outgoing: ServerResponse): Promise<void> => {
    const answer = await request(process.url);
    outgoing.writeHead(answer.statusCode, head);
    const end = await pipeAnswer(answer.body, outgoing, {
      idleMs: 10_000,
      signal: new AbortController().signal,
      isStream: stream !== undefined,
    });
    if (end.kind !== 'whole') outgoing.destroy();
  };
  const server = createServer((_incoming, outgoing) => void relay(outgoing));
  server.on('connection', (socket: Socket) => {
    const spies = [vi.spyOn(socket, '_write'), vi.spyOn(socket as Required<Socket>, '_writev')];
    counts.push(() => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    stream?.onHead();
    const text = await answer.text();
    return { status: answer.status, text, writes: counts.reduce((sum, count) => sum + count(), 0) };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a complete answer with a length is one write with its head', async () => {
  const head = { ...json, 'content-length': body.length };
  expect(await send((response) => response.writeHead(200, head).end(body), head)).toEqual({
    status: 200,
    text: body,
    writes: 1,
  });
});

test('a complete answer in chunks is one write with its head and its end', async () => {
  expect(await send((response) => response.writeHead(200, json).end(body), json)).toEqual({
    status: 200,
    text: body,
    writes: 1,
  });
});

test('a complete answer without a body is sent', async () => {
  expect(await send((response) => response.writeHead(204).end(), {})).toMatchObject({ status: 204, text: '' });
});

test('a large complete answer is sent as it arrives and is complete', async () => {
  const large = 'x'.repeat(3_000_000);
  const sent = await send((response) => response.writeHead(200, json).end(large), json);
  expect(sent.text).toBe(large);
  expect(sent.writes).toBeGreaterThan(2);
});

test('the head of a stream is sent before its first event', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const head = { 'content-type': 'text/event-stream' };
  const script: Script = (response) => {
    response.writeHead(200, head).flushHeaders();
    void promise.then(() => response.end('data: {}\n\n'));
  };
  const { text } = await send(script, head, { onHead: resolve });
  expect(text).toBe('data: {}\n\n');
});
