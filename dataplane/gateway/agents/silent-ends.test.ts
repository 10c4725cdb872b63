import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '#contracts/canonical';
import { type Script, type ScriptedHttp, streams } from '#kit/testing/scripted-http';
import { until } from '#kit/testing/until';
import { type AgentPlaneWorld, agentId, routedVersion, startAgentPlane } from './testing/start-agent-plane.ts';

const card = { name: 'question' };
const event = 'data: {}\n\n';
const base = `/agents/${agentId}`;
/** More bytes than the kernel buffers on both ends of a connection. */
const large = Buffer.alloc(18_000_000, 'a');
/** Time of a run; its process has 10 s more to answer. */
const timeoutMs = 1_000;

let world: AgentPlaneWorld;
let process: ScriptedHttp;
let answer: Script;
let token: string;

beforeAll(async () => {
  world = await startAgentPlane(undefined, [], undefined, undefined, { maxBodyMs: 1_500, clientIdleMs: 2_000 });
  process = await world.startProcess((response, request) =>
    request.path.endsWith('agent-card.json') ? response.end(JSON.stringify(card)) : answer(response, request),
  );
  const version = routedVersion(process, { modes: ['A2A'], cardDigest: digestOf(card) });
  const limits = { ...version.limits, timeoutMs };
  await world.serve({ versions: [{ ...version, limits }] });
  world.allow('ann', 'invoke');
  token = await world.personToken('ann');
});
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  process.forget();
  answer = (response) => void response.end('{}');
});

const call = (operation: string, method = 'POST') =>
  world.call(`${base}/${operation}`, { token, method, body: method === 'POST' ? '{}' : undefined });

/** A connection on which the head of a call is sent. */
function open(operation: string, length: number): Socket {
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  const head = [
    `POST ${base}/${operation} HTTP/1.1`,
    'Host: gateway',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'A2A-Version: 1.0',
    `Content-Length: ${length}`,
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  return socket;
}

describe('a client that sends slowly', () => {
  test('a call whose body does not arrive in time is answered with 408 and does not reach the process, and a slow complete body does', async () => {
    const late = open('message:send', 100);
    late.write('{');
    const slow = open('message:send', 2);
    slow.write('{');
    await pause(200);
    slow.write('}');
    expect(await readText(slow)).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await readText(late);
    expect(refused).toMatch(/^HTTP\/1\.1 408 /);
    expect(refused).toContain('request_timeout');
    expect(process.seen.map(({ text }) => text)).toEqual(['{}']);
  });
});

describe('a process that is silent', () => {
  test('a run is answered with 504 ten seconds after its time limit, and an answer before that is forwarded', async () => {
    let isLate = false;
    answer = async (response) => {
      if (!isLate) {
        isLate = true;
        await pause(timeoutMs + 2_000);
        response.end('{}');
      }
    };
    const before = call('message:send');
    await until('the first run has reached the process', () => isLate);
    const silent = await call('message:send');
    expect((await before).status).toBe(200);
    expect([silent.status, await silent.text()]).toEqual([504, expect.stringContaining('deadline_exceeded')]);
  });

  test('a stream that is silent after its first event ends with an event that names the cause', async () => {
    answer = streams([event], 'silence', { contentType: 'text/event-stream' });
    const stream = await call('message:stream');
    const text = await stream.text();
    expect([stream.status, text.startsWith(event)]).toEqual([200, true]);
    expect(text.slice(event.length)).toMatch(/^event: error\ndata: .*deadline_exceeded.*\n\n$/);
  });

  test('an operation that starts no run is answered with 504 after 30 s', async () => {
    answer = () => undefined;
    const silent = await call('tasks/one', 'GET');
    expect([silent.status, await silent.text()]).toEqual([504, expect.stringContaining('deadline_exceeded')]);
  });
});

describe('a client that reads slowly', () => {
  /** The process answers with many bytes. @returns whether its connection was closed before it had sent them */
  function sendMuch(): () => boolean {
    let isCut = false;
    answer = (response) => {
      response.on('close', () => {
        isCut = !response.writableFinished;
      });
      response.end(large);
    };
    return () => isCut;
  }

  test('the connections of a client that stops reading are closed on both sides, and its next call is served', async () => {
    const isCut = sendMuch();
    const socket = open('message:send', 2);
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('{}');
    await until('the process has lost its reader', isCut);
    socket.destroy();
    answer = (response) => void response.end('{}');
    expect((await call('message:send')).status).toBe(200);
  });

  test('the connection of a client that does not read the end of its stream is closed, although the process has ended it', async () => {
    const begun = Promise.withResolvers<ServerResponse>();
    const channel = 'http.server.request.start';
    const note = (message: unknown): void => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      if (request.url?.startsWith(base) === true) begun.resolve(response);
    };
    subscribe(channel, note);
    answer = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const toClient = await begun.promise;
      // Writes until the kernel accepts no more bytes for the client, so that the last events wait in the gateway.
      while (toClient.writableLength === 0) {
        await new Promise((resolve) => response.write(`data: ${'a'.repeat(4_000)}\n\n`, resolve));
        await turn();
      }
      response.end();
    };
    const socket = open('message:stream', 2);
    socket.on('error', () => undefined);
    socket.pause();
    socket.write('{}');
    const toClient = await begun.promise;
    unsubscribe(channel, note);
    await until('the gateway has the end of the stream', () => toClient.writableEnded);
    expect(toClient.writableFinished).toBe(false);
    await until('the connection is closed', () => toClient.destroyed, { deadlineMs: 30_000 });
    socket.destroy();
  });

  test('a client that reads with pauses gets the complete answer', async () => {
    const isCut = sendMuch();
    const socket = open('message:send', 2);
    socket.write('{}');
    let [bytes, pauses] = [0, 0];
    for await (const piece of socket) {
      bytes += piece.length;
      if (pauses < 10) await pause(100);
      pauses += 1;
    }
    expect([bytes > large.length, isCut()]).toEqual([true, false]);
  });
});
