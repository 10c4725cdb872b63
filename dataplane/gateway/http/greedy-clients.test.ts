import { connect, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import { maxJsonValues } from '../chat/read-envelope.ts';
import { clientKey } from '../testing/start-gateway.ts';
import { says, startWorld, type World } from '../testing/start-world.ts';
import { maxRequestBytes } from './receive-json.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld({ maxBodyMs: 1_500, clientIdleMs: 500 });
});
afterAll(() => world[Symbol.asyncDispose]());

function open(): Socket {
  const { hostname, port } = new URL(world.gateway.service.url);
  return connect(Number(port), hostname);
}

function head(length: number): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer ${clientKey}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
}

describe('a client', () => {
  test('that announces a large body and sends none takes no room from others, and is told when its time is over', async () => {
    const sockets = Array.from({ length: 40 }, open);
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

  test('may send as many values as the limit and not one more', async () => {
    // The object, the model, the list of messages, the message with its role and content, and the list of stops.
    const others = 7;
    const body = (count: number): string =>
      JSON.stringify({ model: 'model', ...says('hi'), stop: new Array(count).fill('') });
    world.upstream.play({ kind: 'answer', content: 'fine' });
    expect((await world.post('/v1/chat/completions', body(maxJsonValues - others))).status).toBe(200);
    const over = await world.post('/v1/chat/completions', body(maxJsonValues - others + 1));
    expect(over.status).toBe(400);
    expect(await over.json()).toMatchObject({ error: { code: 'invalid_json' } });
  });

  test('that does not read its answer loses the connection', async () => {
    // More than the kernel takes for a connection on both of its ends.
    const content = 'word '.repeat(3_600_000);
    world.upstream.play({ kind: 'answer', content });
    const socket = open();
    const body = JSON.stringify({ model: 'open', ...says('hi') });
    let closed = false;
    socket.on('close', () => {
      closed = true;
    });
    socket.on('error', () => undefined);
    socket.pause();
    socket.write(head(Buffer.byteLength(body)) + body);
    await until('the provider was asked', async () => world.upstream.seen.length > 0);
    await until('the gateway has handed over its answer', async () => {
      return (await inFlight()) === 0;
    });
    await until('the connection is cut although nobody reads', async () => {
      socket.write(' ');
      return closed || socket.destroyed;
    });
    expect(socket.bytesRead).toBeLessThan(content.length);
  });
});

/** Requests that the gateway still has in hand. */
async function inFlight(): Promise<number> {
  const text = await (await fetch(`${world.gateway.service.adminUrl}/metrics`)).text();
  const values = [...text.matchAll(/^portcullis_gateway_requests_in_flight\{[^}]*\} (\d+)$/gm)];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}
