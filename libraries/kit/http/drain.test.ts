import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Pool } from 'undici';
import { expect, test } from 'vitest';
import { sendJson } from './json-answer.ts';
import { type Listening, listen, type NodeHandler } from './listen.ts';
import { rawClient } from './testing/raw-client.ts';

const GRACE_MS = 60_000;
const get = (path = '/') => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

const serve = (handler: NodeHandler): Promise<Listening> =>
  listen({
    handler,
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 60_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 4096,
  });

/** A handler whose requests wait until the test answers them. */
function holding() {
  const arrived: { path: string | undefined; outgoing: ServerResponse }[] = [];
  const waiting: (() => void)[] = [];
  return {
    handler(incoming: IncomingMessage, outgoing: ServerResponse): void {
      arrived.push({ path: incoming.url, outgoing });
      for (const wake of waiting.splice(0)) wake();
    },
    async next(): Promise<ServerResponse> {
      while (arrived.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return arrived.shift()!.outgoing;
    },
  };
}

test('a drain answers requests in flight with connection: close, closes idle connections and accepts no new ones', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using busy = await rawClient(server.port);
  await using idle = await rawClient(server.port);
  await using silent = await rawClient(server.port);
  idle.send(get());
  sendJson(await held.next(), 200, {});
  expect((await idle.answer()).headers['connection']).toBe('keep-alive');
  busy.send(get());
  const outgoing = await held.next();

  const drained = server.drain({ graceMs: GRACE_MS });
  expect(await idle.closed()).toBe('');
  expect(await silent.closed()).toBe('');
  await expect(rawClient(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  sendJson(outgoing, 200, { late: true });
  expect(await busy.answer()).toMatchObject({ status: 200, body: '{"late":true}', headers: { connection: 'close' } });
  await busy.closed();
  await drained;
});

test('a streamed response that began before a drain is completed, and then its connection closes', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using client = await rawClient(server.port);
  client.send(get());
  const outgoing = await held.next();
  outgoing.writeHead(200, { 'content-length': 8 });
  outgoing.write('half');
  await once(client.socket, 'data');
  const drained = server.drain({ graceMs: GRACE_MS });
  outgoing.end('half');
  expect(await client.answer()).toMatchObject({ body: 'halfhalf' });
  await client.closed();
  await drained;
});

test('a request on an open connection during a drain is answered', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using client = await rawClient(server.port);
  client.send('GET / HTTP/1.1\r\nhos');
  await using other = await rawClient(server.port);
  other.send(get());
  const outgoing = await held.next();
  const drained = server.drain({ graceMs: GRACE_MS });
  client.send('t: a\r\n\r\n');
  sendJson(await held.next(), 200, {});
  expect(await client.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
  sendJson(outgoing, 200, {});
  await other.answer();
  await drained;
});

test('a request that is not answered within the grace period is aborted', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using client = await rawClient(server.port);
  client.send(get());
  await held.next();
  await server.drain({ graceMs: 20 });
  expect(await client.closed()).toBe('');
});

test('disposing ends requests in flight, and a second drain has no effect', async () => {
  const held = holding();
  const server = await serve(held.handler);
  await using client = await rawClient(server.port);
  client.send(get());
  await held.next();
  await server[Symbol.asyncDispose]();
  await server.drain({ graceMs: GRACE_MS });
  expect(await client.closed()).toBe('');
});

test('a drain with an idle time closes each connection with its next response', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using idle = await rawClient(server.port);
  idle.send(get());
  sendJson(await held.next(), 200, {});
  expect((await idle.answer()).headers['connection']).toBe('keep-alive');
  const drained = server.drain({ graceMs: GRACE_MS, idleMs: GRACE_MS });
  idle.send(get());
  sendJson(await held.next(), 200, {});
  expect((await idle.answer()).headers['connection']).toBe('close');
  expect(await idle.closed()).toBe('');
  await drained;
  await expect(rawClient(server.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a drain closes idle connections after the idle time, and ends immediately without connections', async () => {
  const held = holding();
  await using server = await serve(held.handler);
  await using idle = await rawClient(server.port);
  idle.send(get());
  sendJson(await held.next(), 200, {});
  await idle.answer();
  await server.drain({ graceMs: GRACE_MS, idleMs: 20 });
  expect(await idle.closed()).toBe('');
  await using other = await serve(held.handler);
  await other.drain({ graceMs: GRACE_MS, idleMs: GRACE_MS });
});

test('a drain under load loses no request', async () => {
  await using server = await serve((_incoming, outgoing) => sendJson(outgoing, 200, {}));
  const pool = new Pool(server.url, { connections: 20 });
  const answers: (string | string[] | undefined)[] = [];
  const stop = new AbortController();
  const load = Array.from({ length: 20 }, async () => {
    while (!stop.signal.aborted) {
      const answer = await pool.request({ method: 'GET', path: '/' });
      await answer.body.dump();
      answers.push(answer.headers['connection']);
      if (answer.headers['connection'] === 'close') return;
    }
  });
  while (answers.length < 200) await new Promise((resolve) => setTimeout(resolve, 1));
  const drained = server.drain({ graceMs: GRACE_MS, idleMs: GRACE_MS });
  await Promise.all(load);
  await drained;
  expect(answers.filter((connection) => connection === 'close')).toHaveLength(20);
  await pool.destroy();
});

test('a connection beyond its age is closed with its next response, and a younger one stays open', async () => {
  const answer: NodeHandler = (_incoming, outgoing) => sendJson(outgoing, 200, {});
  const place = {
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 60_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 4096,
  };
  await using old = await listen({ ...place, handler: answer, connectionAgeMs: 0 });
  await using client = await rawClient(old.port);
  let last: string | undefined;
  while (last !== 'close') {
    client.send(get());
    last = (await client.answer()).headers['connection'];
  }
  expect(await client.closed()).toBe('');
  await using young = await listen({ ...place, handler: answer, connectionAgeMs: 600_000 });
  await using other = await rawClient(young.port);
  for (let request = 0; request < 3; request += 1) {
    other.send(get());
    expect((await other.answer()).headers['connection']).toBe('keep-alive');
  }
});
