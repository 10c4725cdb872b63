import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { sendJson } from './json-answer.ts';
import { type ClientFault, type Listening, type ListenOptions, listen, type NodeHandler } from './listen.ts';
import { ListenError } from './listen-error.ts';
import { drainRefused, readBody } from './read-body.ts';
import { rawClient } from './testing/raw-client.ts';

const limits = { host: '127.0.0.1', port: 0, headersTimeoutMs: 5000, keepAliveTimeoutMs: 5000, maxHeaderBytes: 4096 };
const signal = new AbortController().signal;

const clientError = (fault: ClientFault) => ({
  status: fault === 'timeout' ? 408 : 400,
  contentType: 'application/json',
  body: JSON.stringify({ fault, note: 'я' }),
});

/** Answers with the path and the body; refuses /refuse before reading the body. */
const echo: NodeHandler = async (incoming, outgoing) => {
  if (incoming.url === '/refuse') {
    drainRefused(incoming, outgoing);
    return sendJson(outgoing, 403, {});
  }
  const body = await readBody(incoming, { limit: 1000, signal });
  sendJson(outgoing, 200, { path: incoming.url, body: body.ok ? body.bytes.toString() : body.fault });
};

function serve(options: Partial<ListenOptions> = {}): Promise<Listening> {
  return listen({ handler: echo, ...limits, clientError, ...options } as ListenOptions);
}

/** A client with a server of its own; disposing ends both. */
async function connect(options: Partial<ListenOptions> = {}) {
  const server = await serve(options);
  const client = await rawClient(server.port);
  return {
    ...client,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const get = (path = '/', more = '') => `GET ${path} HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
const post = (body: string, more = '') =>
  `POST /p HTTP/1.1\r\nhost: a\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;

describe('requests that Node refuses are answered by the service', () => {
  test.each<[string, string, ClientFault]>([
    ['no HTTP', 'hello\r\n\r\n', 'bad_request'],
    ['a bad version', 'GET / HTTP/9.9\r\nhost: a\r\n\r\n', 'bad_request'],
    ['a bad method', 'GET? / HTTP/1.1\r\nhost: a\r\n\r\n', 'bad_request'],
    ['a space in a header name', 'GET / HTTP/1.1\r\nhost: a\r\na b: 1\r\n\r\n', 'bad_request'],
    ['a bare line feed in a header', 'GET / HTTP/1.1\r\nhost: a\r\nx: 1\n\ty\r\n\r\n', 'bad_request'],
    ['a control character in a header', 'GET / HTTP/1.1\r\nhost: a\r\nx: \u0001\r\n\r\n', 'bad_request'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 'bad_request'],
    ['two Hosts', 'GET / HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n', 'bad_request'],
    ['a Host in quotes', 'GET / HTTP/1.1\r\nhost: "a"\r\n\r\n', 'bad_request'],
    ['a port that is not a number', 'GET / HTTP/1.1\r\nhost: a:b\r\n\r\n', 'bad_request'],
    ['a fragment', get('/p#q'), 'bad_request'],
    [
      'two Content-Lengths',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na',
      'bad_request',
    ],
    ['two lengths in one header', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1, 1\r\n\r\na', 'bad_request'],
    ['a negative length', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n', 'bad_request'],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na',
      'bad_request',
    ],
    ['a bad chunk', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'bad_request'],
    ['chunks not last', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, gzip\r\n\r\n', 'bad_request'],
    ['another coding before chunked', get('/', 'transfer-encoding: gzip, chunked\r\n'), 'bad_request'],
    ['chunks twice', get('/', 'transfer-encoding: chunked\r\nTransfer-Encoding: chunked\r\n'), 'bad_request'],
    ['a parameter of chunks', get('/', 'transfer-encoding: chunked;q=1\r\n'), 'bad_request'],
    ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n', 'bad_request'],
    ['headers too large', `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(4096)}\r\n\r\n`, 'headers_too_large'],
    ['a target too large', `GET /${'a'.repeat(5000)} HTTP/1.1\r\nhost: a\r\n\r\n`, 'headers_too_large'],
    ['another expectation', get('/', 'expect: tea\r\n'), 'expectation'],
  ])('a request with %s is refused', async (_what, request, fault) => {
    await using client = await connect();
    client.send(request);
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 400, body: JSON.stringify({ fault, note: 'я' }) });
    expect(answer.headers).toMatchObject({ connection: 'close', 'content-type': 'application/json' });
    expect(answer.headers['date']).toMatch(/GMT$/);
    expect(await client.closed()).toBe('');
  });

  test('a client that resets its connection during an error response does not end the process', async () => {
    await using server = await serve();
    for (const request of ['CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n', 'nonsense\r\n\r\n']) {
      await using client = await rawClient(server.port);
      client.send(request);
      await once(client.socket, 'data');
      client.socket.resetAndDestroy();
    }
    await using client = await rawClient(server.port);
    client.send(get());
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test('headers of the maximum size are accepted', async () => {
    await using client = await connect();
    client.send(get('/', `x: ${'a'.repeat(4000)}\r\n`));
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test.each(['127.0.0.1:80', '[::1]:80', 'a_b.c', 'a:', ''])('the Host %j is accepted', async (host) => {
    await using client = await connect();
    client.send(`GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test('a body that breaks after its request was refused gets no second response', async () => {
    await using client = await connect();
    client.send('POST /refuse HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\na');
    expect(await client.answer()).toMatchObject({ status: 403 });
    client.socket.end();
    expect(await client.closed()).toBe('');
  });

  test('a CONNECT after a pipelined request is answered after it', async () => {
    await using client = await connect();
    client.send(`${post('hi')}CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n`);
    expect(await client.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await client.closed()).toBe('');
  });

  test.each(['nonsense', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz'])(
    'valid pipelined requests are answered before %j closes the connection',
    async (follower) => {
      await using client = await connect();
      client.send(`${post('hi')}${post('ho')}${follower}\r\n\r\n`);
      expect(await client.answer()).toMatchObject({ status: 200, body: '{"path":"/p","body":"hi"}' });
      expect(await client.answer()).toMatchObject({
        status: 200,
        headers: { connection: 'close' },
        body: '{"path":"/p","body":"ho"}',
      });
      expect(await client.closed()).toBe('');
    },
  );

  test('an upgrade request is answered with connection: close', async () => {
    await using client = await connect();
    client.send(post('hi', 'connection: upgrade\r\nupgrade: websocket\r\n') + get());
    expect(await client.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(await client.closed()).toBe('');
  });

  test('a request whose headers never end times out', async () => {
    await using client = await connect({ headersTimeoutMs: 100 });
    client.send('GET / HTTP/1.1\r\nhost: a\r\n');
    expect(await client.answer()).toMatchObject({ status: 408, headers: { connection: 'close' } });
    expect(await client.closed()).toBe('');
  });

  test('a request whose body never ends times out', async () => {
    await using client = await connect({ headersTimeoutMs: 100, requestTimeoutMs: 150 });
    client.send('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\na');
    expect(await client.answer()).toMatchObject({ status: 408, headers: { connection: 'close' } });
    expect(await client.closed()).toBe('');
  });

  test('a connection without a request is closed without a response', async () => {
    await using client = await connect({ headersTimeoutMs: 100 });
    expect(await client.closed()).toBe('');
  });

  test('an idle connection is closed without a response', async () => {
    await using client = await connect({ keepAliveTimeoutMs: 50 });
    client.send(get());
    await client.answer();
    expect(await client.closed()).toBe('');
  });

  test('a service without its own error format answers with plain text', async () => {
    await using server = await listen({ handler: echo, ...limits });
    await using client = await rawClient(server.port);
    client.send(get('/', `x: ${'a'.repeat(4096)}\r\n`));
    expect(await client.answer()).toMatchObject({ status: 431, body: 'Request Header Fields Too Large\n' });
  });

  test('valid pipelined requests are answered before an invalid one closes the connection', async () => {
    const gate = Promise.withResolvers<void>();
    await using client = await connect({
      handler: async (incoming, outgoing) => {
        await gate.promise;
        await echo(incoming, outgoing);
      },
    });
    client.send(`${get('/1')}${get('/2')}nonsense\r\n\r\n`);
    gate.resolve();
    expect(await client.answer()).toMatchObject({ status: 200, body: '{"path":"/1","body":""}' });
    expect(await client.answer()).toMatchObject({ status: 200, body: '{"path":"/2","body":""}' });
    expect(await client.closed()).toBe('');
  });

  test('a response in progress is completed before an invalid request closes the connection', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    await using client = await connect({ handler: (_, outgoing) => arrived.resolve(outgoing) });
    client.send(get());
    const outgoing = await arrived.promise;
    outgoing.writeHead(200, { 'content-length': 8 });
    outgoing.write('half');
    await once(client.socket, 'data');
    client.send('nonsense\r\n\r\n');
    // The server stops reading after the invalid request.
    while (!outgoing.socket?.isPaused()) await setImmediate();
    outgoing.end('half');
    expect(await client.answer()).toMatchObject({ status: 200, body: 'halfhalf' });
    expect(await client.closed()).toBe('');
  });

  test('an error response is never appended to a response in progress', async () => {
    const broken = Promise.withResolvers<void>();
    await using client = await connect({
      handler: (incoming, outgoing) => {
        outgoing.writeHead(200, { 'content-length': 10 });
        outgoing.write('half');
        incoming.on('close', () => broken.resolve()).resume();
      },
    });
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n');
    client.send('zz\r\n');
    await broken.promise;
    expect(await client.closed()).not.toContain('fault');
  });

  test('a handler that answers after the error response has no effect', async () => {
    const arrived = Promise.withResolvers<ServerResponse>();
    await using server = await serve({ handler: (_, outgoing) => arrived.resolve(outgoing) });
    await using client = await rawClient(server.port);
    client.send('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n');
    const outgoing = await arrived.promise;
    client.send('zz\r\n');
    expect(await client.answer()).toMatchObject({ status: 400 });
    sendJson(outgoing, 200, { too: 'late' });
    expect(await client.closed()).toBe('');
    await using next = await rawClient(server.port);
    next.send('nonsense\r\n\r\n');
    expect(await next.answer()).toMatchObject({ status: 400 });
  });

  test.each(['GET', 'HEAD'])(
    'the body of a %s request is discarded within bounds, and the response is the same as without a body',
    async (method) => {
      await using server = await serve({ handler: (_, outgoing) => sendJson(outgoing, 200, { page: true }) });
      const ask = (more: string) => `${method} /page HTTP/1.1\r\nhost: a\r\n${more}\r\n`;
      await using kept = await rawClient(server.port);
      kept.send(`${ask('content-length: 5\r\n')}hello${get('/page')}`);
      if (method === 'GET')
        expect(await kept.answer()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } });
      await using endless = await rawClient(server.port);
      endless.send(ask('transfer-encoding: chunked\r\n'));
      const piece = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      for (let sent = 0; sent < 8; sent += 1) endless.send(piece);
      const answer = await endless.closed();
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toMatch(/connection: close/i);
    },
  );

  test('all headers reach the handler, however many there are', async () => {
    let count = 0;
    await using client = await connect({
      maxHeaderBytes: 64 * 1024,
      handler: (incoming, outgoing) => {
        count = incoming.rawHeaders.length / 2;
        sendJson(outgoing, 200, {});
      },
    });
    client.send(get('/', 'a: 1\r\n'.repeat(5000)));
    expect(await client.answer()).toMatchObject({ status: 200 });
    expect(count).toBe(5001);
  });
});

describe('expectation of 100-continue', () => {
  const expecting = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n`;

  test('100 Continue is sent when the handler begins to read the body', async () => {
    await using client = await connect();
    client.send(expecting('/p'));
    expect(await client.answer()).toMatchObject({ status: 100 });
    client.send('hi');
    expect(await client.answer()).toMatchObject({ status: 200, body: '{"path":"/p","body":"hi"}' });
    client.send(get());
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test('100 Continue is not sent when the handler refuses, and the connection closes', async () => {
    await using client = await connect();
    client.send(expecting('/refuse'));
    expect(await client.answer()).toMatchObject({ status: 403, headers: { connection: 'close' } });
    expect(await client.closed()).toBe('');
  });

  test('100 Continue is sent before the handler with onContinue at_once', async () => {
    await using client = await connect({
      onContinue: 'at_once',
      handler: (_, outgoing) => sendJson(outgoing, 200, {}),
    });
    client.send(expecting('/p'));
    expect(await client.answer()).toMatchObject({ status: 100 });
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test('a request that expects 100 Continue needs a Host', async () => {
    await using client = await connect();
    client.send('POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n');
    expect(await client.answer()).toMatchObject({ status: 400 });
  });
});

describe('a Hono application', () => {
  const app = new Hono<{ Bindings: { incoming: IncomingMessage } }>();
  app.post('/p', async (c) => {
    const body = await readBody(c.env.incoming, { limit: 1000, signal });
    return c.json({ raw: c.env.incoming.rawHeaders.length, body: body.ok ? body.bytes.toString() : body.fault });
  });

  test('a Hono application is served and sees the raw headers', async () => {
    const globals = [globalThis.Request, globalThis.Response];
    await using server = await listen({ fetch: app.fetch, ...limits, clientError });
    await using client = await rawClient(server.port);
    client.send(post('hi', 'x: 1\r\nX: 2\r\n'));
    expect(await client.answer()).toMatchObject({ status: 200, body: '{"raw":8,"body":"hi"}' });
    expect([globalThis.Request, globalThis.Response]).toEqual(globals);
  });

  test('a request that Hono cannot represent is answered with the fault', async () => {
    await using server = await listen({ fetch: app.fetch, ...limits, clientError });
    await using client = await rawClient(server.port);
    client.send('GET / HTTP/1.1\r\nhost: a b/c\r\n\r\n');
    expect(await client.answer()).toMatchObject({
      status: 400,
      headers: { connection: 'close' },
      body: '{"fault":"bad_request","note":"я"}',
    });
    expect(await client.closed()).toBe('');
  });
});

test.each(['throws', 'rejects'])(
  'a handler that %s closes its connection and is reported to the service',
  async (how) => {
    const told = Promise.withResolvers<unknown>();
    const failure = new TypeError('mistake');
    await using client = await connect({
      handler: () => {
        if (how === 'throws') throw failure;
        return Promise.reject(failure);
      },
      onHandlerError: told.resolve,
    });
    client.send(get());
    expect(await told.promise).toBe(failure);
    expect(await client.closed()).toBe('');
  },
);

describe('an address that is not available', () => {
  test('listening on a port in use fails', async () => {
    await using first = await serve();
    const error = await serve({ port: first.port }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ListenError);
    expect(error).toMatchObject({
      code: 'port_in_use',
      message: `cannot listen on 127.0.0.1:${first.port}: another process uses this port`,
    });
  });

  test.each([
    ['an address of another machine', '192.0.2.1'],
    ['not resolved', 'name.invalid'],
  ])('listening on %s fails', async (_what, host) => {
    await expect(serve({ host })).rejects.toMatchObject({ name: 'ListenError', code: 'bad_address' });
  });

  test('the URL of an IPv6 address has brackets', async (context) => {
    const probe = createServer();
    const there = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true));
    });
    probe.close();
    context.skip(!there, 'this machine has no IPv6 loopback');
    await using server = await serve({ host: '::1' });
    expect(server.url).toBe(`http://[::1]:${server.port}`);
    expect((await fetch(server.url)).status).toBe(200);
  });
});
