import { once } from 'node:events';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { sendJson } from './json-answer.ts';
import { type Listening, listen, type NodeHandler } from './listen.ts';
import { type Body, declaredLength, drainRefused, readBody } from './read-body.ts';
import { rawClient } from './testing/raw-client.ts';

const KIB = 1024;
const serve = (handler: NodeHandler): Promise<Listening> =>
  listen({
    handler,
    host: '127.0.0.1',
    port: 0,
    headersTimeoutMs: 5000,
    keepAliveTimeoutMs: 5000,
    maxHeaderBytes: 4096,
  });

const post = (head: string) => `POST / HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n`;
const sized = (body: string | Buffer) => `${post(`content-length: ${Buffer.byteLength(body)}`)}${body}`;
const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`;

/** Serves a body reader with this limit and returns the bodies that it read. */
async function reader(limit: number, signal = new AbortController().signal) {
  const read = Promise.withResolvers<Body>();
  const started = Promise.withResolvers<void>();
  const server = await serve(async (incoming, outgoing) => {
    started.resolve();
    const body = await readBody(incoming, { limit, signal });
    read.resolve(body);
    if (!body.ok) drainRefused(incoming, outgoing);
    sendJson(outgoing, body.ok ? 200 : 413, body.ok ? { bytes: body.bytes.length } : { fault: body.fault });
  });
  return { server, read: read.promise, started: started.promise };
}

test.each([
  [10, 'a'.repeat(9), 200],
  [10, 'a'.repeat(10), 200],
  [10, 'a'.repeat(11), 413],
  [10, '', 200],
  [0, '', 200],
  [0, 'a', 413],
])('the limit %d applies to a body with a declared length: %j', async (limit, body, status) => {
  const { server, read } = await reader(limit);
  await using _ = server;
  await using client = await rawClient(server.port);
  client.send(sized(body));
  expect(await client.answer()).toMatchObject({ status });
  expect(await read).toEqual(
    status === 200 ? { ok: true, bytes: Buffer.from(body) } : { ok: false, fault: 'too_large' },
  );
});

test.each([
  [['abcde', 'fghij'], 200],
  [['abcde', 'fghij', 'k'], 413],
  [['abcdefghijk'], 413],
  [[], 200],
])('the limit 10 applies to a chunked body: %j', async (chunks, status) => {
  const { server, read } = await reader(10);
  await using _ = server;
  await using client = await rawClient(server.port);
  client.send(`${post('transfer-encoding: chunked')}${chunks.map(chunk).join('')}0\r\n\r\n`);
  expect(await client.answer()).toMatchObject({ status });
  const body = await read;
  if (body.ok) expect(body.bytes.toString()).toBe(chunks.join(''));
});

test('a body in many chunks is read completely', async () => {
  const { server, read } = await reader(1_000_000);
  await using _ = server;
  const bytes = Buffer.alloc(300 * KIB, 'Съешь ещё ');
  expect((await fetch(server.url, { method: 'POST', body: bytes })).status).toBe(200);
  expect(await read).toEqual({ ok: true, bytes });
});

test('a client that disconnects ends the reading of its body with the fault closed', async () => {
  const { server, read, started } = await reader(100);
  await using _ = server;
  await using client = await rawClient(server.port);
  client.send(`${post('content-length: 5')}ab`);
  await started;
  client.socket.destroy();
  expect(await read).toEqual({ ok: false, fault: 'closed' });
});

test('an aborted signal ends the reading of a body, before and during it', async () => {
  const control = new AbortController();
  const { server, read, started } = await reader(100, control.signal);
  await using _ = server;
  await using client = await rawClient(server.port);
  client.send(`${post('content-length: 5')}ab`);
  await started;
  control.abort();
  expect(await read).toEqual({ ok: false, fault: 'aborted' });
  const again = await reader(100, control.signal);
  await using __ = again.server;
  await using second = await rawClient(again.server.port);
  second.send(sized('ab'));
  expect(await again.read).toEqual({ ok: false, fault: 'aborted' });
});

test('a body can be read only once', async () => {
  const bodies: Body[] = [];
  await using server = await serve(async (incoming, outgoing) => {
    const { signal } = new AbortController();
    bodies.push(await readBody(incoming, { limit: 10, signal }), await readBody(incoming, { limit: 10, signal }));
    sendJson(outgoing, 200, {});
  });
  await using client = await rawClient(server.port);
  client.send(sized('ab'));
  await client.answer();
  expect(bodies).toEqual([
    { ok: true, bytes: Buffer.from('ab') },
    { ok: false, fault: 'closed' },
  ]);
});

test.each([
  [[], undefined],
  [['Host', 'a'], undefined],
  [['Content-Length', '0'], 0],
  [['host', 'a', 'content-LENGTH', '131072'], 131072],
])('the declared length in %j is %s', (rawHeaders, length) => {
  expect(declaredLength(rawHeaders)).toBe(length);
});

/**
 * A server that refuses the first request unread, before or after its answer is written, and answers later requests.
 */
async function refuser(order: 'before' | 'after') {
  let first = true;
  return serve((incoming, outgoing) => {
    if (!first) return sendJson(outgoing, 200, {});
    first = false;
    if (order === 'before') drainRefused(incoming, outgoing);
    sendJson(outgoing, 401, {});
    if (order === 'after') drainRefused(incoming, outgoing);
  });
}

test.each(['before', 'after'] as const)(
  'the connection of a refused request without a body is reused when the request is drained %s the response',
  async (order) => {
    await using server = await refuser(order);
    await using client = await rawClient(server.port);
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } });
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status: 200 });
  },
);

test('a refused chunked body closes its connection, even a short one', async () => {
  await using server = await refuser('before');
  await using client = await rawClient(server.port);
  client.send(`${post('transfer-encoding: chunked')}${chunk('a')}0\r\n\r\n`);
  expect(await client.answer()).toMatchObject({ status: 401, headers: { connection: 'close' } });
  expect(await client.closed()).toBe('');
});

test.each(['before', 'after'] as const)(
  '64 KiB of a refused body are discarded and the connection stays, drained %s the response',
  async (order) => {
    await using server = await refuser(order);
    await using client = await rawClient(server.port);
    client.send(sized(Buffer.alloc(64 * KIB, 'a')));
    expect(await client.answer()).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } });
    client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status: 200 });
  },
);

test.each(['before', 'after'] as const)(
  'a refused body of more than 64 KiB closes the connection, drained %s the response',
  async (order) => {
    await using server = await refuser(order);
    await using client = await rawClient(server.port);
    client.send(sized(Buffer.alloc(64 * KIB + 1, 'a')));
    const answer = await client.answer();
    expect(answer.status).toBe(401);
    if (order === 'before') expect(answer.headers['connection']).toBe('close');
    expect(await client.closed()).toBe('');
  },
);

test.each(['before', 'after'] as const)(
  'an endless upload is aborted after its client received the response, drained %s it',
  async (order) => {
    await using server = await refuser(order);
    const upload = request(server.url, { method: 'POST' });
    upload.on('error', () => undefined);
    const closed = new Promise((resolve) => upload.once('close', resolve));
    const answered = once(upload, 'response');
    let sent = 0;
    const piece = Buffer.alloc(64 * KIB, 'a');
    const pour = () => {
      while (!upload.destroyed && upload.write(piece)) sent += piece.length;
      sent += piece.length;
    };
    upload.on('drain', pour);
    pour();
    const [answer] = await answered;
    expect(answer.statusCode).toBe(401);
    answer.resume();
    await closed;
    expect(sent).toBeLessThan(20 * KIB * KIB);
  },
);

test('a refused client that sends its body too slowly is disconnected', async () => {
  await using server = await refuser('before');
  await using client = await rawClient(server.port);
  client.send(`${post('content-length: 100')}a`);
  expect(await client.answer()).toMatchObject({ status: 401 });
  expect(await client.closed()).toBe('');
});
