import { connect, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { contentFrame, scriptedDoneFrame } from '../../../e2e/support/scripted-upstream.ts';
import { maxJsonValues } from '../chat/read-envelope.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';
import { maxRequestBytes } from './receive-json.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ maxBodyMs: 1_500, clientIdleMs: 1_500, maxRequestMs: 3_600_000 });
});
afterAll(() => world[Symbol.asyncDispose]());

function open({ gateway }: World = world): Socket {
  const { hostname, port } = new URL(gateway.service.url);
  return connect(Number(port), hostname);
}

/** Sends line breaks, which may precede a request, at shorter intervals than the idle time of clients until the connection is closed. */
async function closedWhileSending(socket: Socket): Promise<void> {
  const sending = setInterval(() => socket.write('\r\n'), 100);
  try {
    await until('the connection is closed', async () => socket.destroyed);
  } finally {
    clearInterval(sending);
  }
}

function head(length: number): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${clientKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

describe('a greedy client', () => {
  test('a client that announces a large body and sends no byte of it blocks no other client and gets 408', async () => {
    const sockets = Array.from({ length: 40 }, () => open());
    const answers = sockets.map((socket) => {
      socket.write(`${head(maxRequestBytes)}{`);
      return readText(socket);
    });
    world.upstream.play({ kind: 'answer', content: 'fine' });
    expect((await world.chat(says('hi'))).status).toBe(200);
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
      expect(answer).toContain('request_timeout');
    }
  });

  test('a request may hold 200,000 JSON values, and one more is refused with 400', async () => {
    // The JSON values of this request: the object, the model, the list of messages, the message with its role and
    // content, and the list of stop strings.
    const others = 7;
    const body = (count: number): string =>
      JSON.stringify({ model: 'model', ...says('hi'), stop: new Array(count).fill('') });
    world.upstream.play({ kind: 'answer', content: 'fine' });
    expect((await world.post('/v1/chat/completions', body(maxJsonValues - others))).status).toBe(200);
    const over = await world.post('/v1/chat/completions', body(maxJsonValues - others + 1));
    expect(over.status).toBe(400);
    expect(await over.json()).toMatchObject({ error: { code: 'invalid_json' } });
  });

  test('the connection of a client that does not read its answer is closed, even while it sends', async () => {
    // More bytes than the kernel buffers on both ends of a connection.
    const content = 'word '.repeat(3_600_000);
    world.upstream.play({ kind: 'answer', content });
    const socket = open();
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(head(Buffer.byteLength(body)) + body);
    await until('the provider was asked', async () => world.upstream.seen.length > 0);
    await until('the gateway has handed over its answer', async () => {
      return (await inFlight()) === 0;
    });
    await closedWhileSending(socket);
    expect(socket.bytesRead).toBeLessThan(content.length);
  });

  test('the connection of a client that reads only the first of two answers is closed, even while it sends', async () => {
    const content = 'word '.repeat(3_600_000);
    world.upstream.play({ kind: 'answer', content });
    const asked = world.upstream.seen.length;
    const socket = open();
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    let received = 0;
    socket.on('error', () => undefined);
    socket.write((head(Buffer.byteLength(body)) + body).repeat(2));
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (received > content.length + 10_000) socket.pause();
    });
    await until('both are asked', async () => world.upstream.seen.length === asked + 2);
    await until('the second answer is begun', async () => received > content.length + 10_000);
    await closedWhileSending(socket);
    expect(received).toBeLessThan(2 * content.length);
  });

  /** A stream of 18 MB in frames of 60 KB. */
  const frames = Array.from({ length: 300 }, () => contentFrame('word '.repeat(12_000)));
  const streamBody = JSON.stringify({ model: 'open', ...says('hi'), stream: true });
  const playStream = (): void =>
    world.upstream.play({ kind: 'frames', frames: [...frames, scriptedDoneFrame], end: 'end' });

  test('the connection of a client that does not read an unfinished stream is closed, even while the client sends', async () => {
    playStream();
    const socket = open();
    socket.on('error', () => undefined);
    socket.pause();
    const asked = world.upstream.seen.length;
    socket.write(head(Buffer.byteLength(streamBody)) + streamBody);
    await until('the provider was asked', async () => world.upstream.seen.length > asked);
    await closedWhileSending(socket);
    await until('the request has ended', async () => (await inFlight()) === 0);
    expect(socket.bytesRead).toBeLessThan(frames.join('').length);
  });

  test('a client that reads a stream slowly receives all of it and the next answer on the same connection', async () => {
    playStream();
    const socket = open();
    socket.write((head(Buffer.byteLength(streamBody)) + streamBody).repeat(2));
    let received = 0;
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
      socket.pause();
      // The whole stream takes several times the idle time of clients.
      setTimeout(() => socket.resume(), 10);
    });
    await until('both streams are received', async () => received > 2 * frames.join('').length);
    socket.destroy();
  });

  test('a client that reads slowly receives its complete answer and the next one on the same connection', async () => {
    const content = 'word '.repeat(3_600_000);
    world.upstream.play({ kind: 'answer', content });
    const asked = world.upstream.seen.length;
    const socket = open();
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    socket.pause();
    socket.write((head(Buffer.byteLength(body)) + body).repeat(2));
    let received = 0;
    socket.on('data', (bytes: Buffer) => {
      received += bytes.length;
      socket.pause();
      // The whole answer takes several times the idle time of clients.
      setTimeout(() => socket.resume(), 10);
    });
    socket.resume();
    await until('both answers are received', async () => received > 2 * content.length);
    expect(world.upstream.seen.length).toBe(asked + 2);
    socket.destroy();
  });
});

describe('requests and whole answers of all requests together', () => {
  const limit = 18 * 1_048_576;
  let small: World;
  beforeAll(async () => {
    small = await startWorld({ maxHeldBytes: limit, heldWaitMs: 2_000, clientIdleMs: 60_000 });
  });
  afterAll(() => small[Symbol.asyncDispose]());

  /** Makes the provider answer with the given number of bytes. */
  function play(bytes: number): void {
    const frame = JSON.stringify({ data: [], results: [], x: '' });
    const body = frame.replace('"x":""', `"x":"${'y'.repeat(bytes - frame.length)}"`);
    small.upstream.play({ kind: 'raw', body, contentType: 'application/json' });
  }

  test.each([
    ['/v1/chat/completions', says('hi')],
    ['/v1/embeddings', { input: 'hi' }],
    ['/v1/rerank', { query: 'hi', documents: ['hi'] }],
  ])('POST %s may hold as many bytes as the limit, and one byte more is refused as overloaded', async (path, body) => {
    const sent = Buffer.byteLength(JSON.stringify({ model: 'open', ...body }));
    const passes = async (): Promise<void> => {
      play(limit - sent);
      // The gateway releases the bytes of the previous answer shortly after the client has received them.
      await until('the answer passes', async () => {
        const answer = await small.post(path, { model: 'open', ...body });
        const { byteLength } = await answer.arrayBuffer();
        return answer.status === 200 && byteLength === limit - sent;
      });
    };
    await passes();
    play(limit - sent + 1);
    const refused = await small.post(path, { model: 'open', ...body });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('x-should-retry')).toBeNull();
    expect(await refused.json()).toMatchObject({ error: { type: 'service_unavailable', code: 'overloaded' } });
    await passes();
  });

  test.each(['open', 'model'])(
    'the bytes of a large request for a stream of %s are free when the provider begins to answer',
    async (model) => {
      const picture = (bytes: number) => [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(bytes)}` } },
      ];
      const path = '/v1/chat/completions';
      const large = { model, ...says(picture(10 * 1_048_576)) };
      // The budget without the half that it reserves for the oldest request.
      const second = { model, ...says(picture(8.5 * 1_048_576)) };
      small.upstream.play({ kind: 'frames', frames: [contentFrame('fine')], end: 'silence' });
      const leaving = new AbortController();
      const asked = small.upstream.seen.length;
      const stream = await small.post(path, { ...large, stream: true }, {}, leaving.signal);
      expect(stream.status).toBe(200);
      const received = JSON.parse(small.upstream.seen[asked]?.text ?? '{}') as object;
      expect(received).toEqual({ ...large, model: 'upstream-model', stream: true });
      small.upstream.play({ kind: 'answer', content: 'fine' });
      expect((await small.post(path, second)).status).toBe(200);
      leaving.abort();
      await expect(stream.text()).rejects.toThrow();
      await until('the stream has ended', async () => (await inFlight(small)) === 0);
    },
  );

  test('a request whose client leaves while it waits for bytes ends immediately', async () => {
    await using patient = await startWorld({ maxHeldBytes: limit, heldWaitMs: 3_600_000, clientIdleMs: 3_600_000 });
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    const answer = (bytes: number): void =>
      patient.upstream.play({
        kind: 'raw',
        body: `{"x":"${'y'.repeat(bytes - 8)}"}`,
        contentType: 'application/json',
      });
    // The remaining budget is enough for the next request, but not for its answer.
    answer(limit - Buffer.byteLength(body) - 5_000);
    const unread = open(patient);
    unread.on('error', () => undefined);
    unread.pause();
    unread.write(head(Buffer.byteLength(body)) + body);
    const asked = (count: number) => async () =>
      patient.upstream.seen.length === count && (await inFlight(patient)) === count - 1;
    await until('the answer is held', asked(1));
    answer(10_000);
    const waiting = open(patient);
    waiting.write(head(Buffer.byteLength(body)) + body);
    await until('another answer waits', asked(2));
    waiting.destroy();
    await until('it has ended', async () => (await inFlight(patient)) === 0);
    unread.destroy();
  });

  test('an answer that a client does not read counts until the client disconnects', async () => {
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    play(limit - Buffer.byteLength(body));
    const socket = open(small);
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(head(Buffer.byteLength(body)) + body);
    const ask = (): Promise<Response> => small.post('/v1/chat/completions', { model: 'open', ...says('hi') });
    await until('the answer is held', async () => small.upstream.seen.length > 0 && (await inFlight(small)) === 0);
    expect((await ask()).status).toBe(503);
    const waiting = ask();
    await until('another request waits', async () => (await inFlight(small)) === 1);
    socket.destroy();
    const released = await waiting;
    expect(released.status).toBe(200);
    await released.arrayBuffer();
    await until('the answer is released', async () => {
      const answer = await ask();
      await answer.arrayBuffer();
      return answer.status === 200;
    });
  });
});

/** Number of requests that the gateway is still handling. */
async function inFlight({ gateway }: World = world): Promise<number> {
  const text = await (await fetch(`${gateway.service.adminUrl}/metrics`)).text();
  const values = [...text.matchAll(/^portcullis_gateway_requests_in_flight\{[^}]*\} (\d+)$/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
