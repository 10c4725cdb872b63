import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openTrace } from '#kit/http/trace-context';
import { until } from '#kit/testing/until';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AnswerFacts } from './judge-answer.ts';
import { sendJudgedAnswer } from './send-judged.ts';

async function* events() {
  for (;;) {
    yield Buffer.from(`data: {"text":"${'a'.repeat(4_000)}"}\n\n`);
    await turn();
  }
}

/**
 * Sends the stream of an image to a client that reads nothing. The policy denies as soon as an event waits for the client.
 * @returns the error with which the stream ends
 */
async function sendUnread(idleMs: number, onDenied: 'the client disconnects' | 'the client stays'): Promise<unknown> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n');
  try {
    const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const judge = async (): Promise<void> => {
      if (outgoing.writableLength === 0) return;
      if (onDenied === 'the client disconnects') setImmediate(() => client.destroy());
      throw new AgentRefusal('guardrail_denied');
    };
    const facts = { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard: { judge } };
    const answer = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: Readable.from(events()) };
    const exchange = { incoming, outgoing, trace: openTrace(undefined, false) };
    const { signal } = new AbortController();
    return await sendJudgedAnswer(answer, facts as unknown as AnswerFacts, { exchange, signal, idleMs }).catch(
      (reason: unknown) => reason,
    );
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
}

/** Sends long events and a denied one to a client that reads a part of them every 10 ms. */
async function sendToSlowReader(idleMs: number) {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  client
    .on('error', () => undefined)
    .on('data', (part) => {
      received = `${received}${part.toString('latin1')}`.slice(-1_000);
      client.pause();
      setTimeout(() => client.resume(), 10);
    });
  client.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n');
  try {
    const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const judge = async (texts: unknown): Promise<void> => {
      if (JSON.stringify(texts).includes('secret')) throw new AgentRefusal('guardrail_denied');
    };
    const facts = { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard: { judge } };
    const long = Buffer.from(`data: {"text":"${'a'.repeat(250_000)}"}\n\n`);
    const body = Readable.from([...Array.from({ length: 32 }, () => long), Buffer.from('data: {"text":"secret"}\n\n')]);
    const answer = { status: 200, headers: { 'content-type': 'text/event-stream' }, body };
    const exchange = { incoming, outgoing, trace: openTrace(undefined, false) };
    const { signal } = new AbortController();
    const error = await sendJudgedAnswer(answer, facts as unknown as AnswerFacts, { exchange, signal, idleMs }).catch(
      (reason: unknown) => reason,
    );
    return { error, finished: outgoing.writableFinished, received: () => received };
  } finally {
    server.closeIdleConnections();
    server.close();
  }
}

test('a client that reads slowly for longer than the idle time gets every event and the reason of the end', async () => {
  const { error, finished, received } = await sendToSlowReader(600);
  expect(error).toMatchObject({ code: 'guardrail_denied' });
  expect(finished).toBe(true);
  await until('the client has the reason', () => received().includes('event: error'));
});

test('a client that reads nothing and keeps sending does not hold a denied stream beyond the time of the call', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n');
  const sending = setInterval(() => client.write('\r\n'), 20);
  try {
    const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const time = new AbortController();
    const judge = async (): Promise<void> => {
      if (outgoing.writableLength === 0) return;
      setTimeout(() => time.abort(), 100);
      throw new AgentRefusal('guardrail_denied');
    };
    const facts = { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard: { judge } };
    const answer = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: Readable.from(events()) };
    const exchange = { incoming, outgoing, trace: openTrace(undefined, false) };
    const stream = sendJudgedAnswer(answer, facts as unknown as AnswerFacts, {
      exchange,
      signal: time.signal,
      idleMs: 600_000,
    });
    await expect(stream).rejects.toMatchObject({ code: 'guardrail_denied' });
    expect(outgoing.writableFinished).toBe(false);
  } finally {
    clearInterval(sending);
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
});

test.each([
  ['disconnects', 600_000, 'the client disconnects'],
  ['reads nothing for the idle time', 100, 'the client stays'],
] as const)('a denied stream is over when its client %s before it has the last event', async (_, idleMs, onDenied) => {
  expect(await sendUnread(idleMs, onDenied)).toMatchObject({ code: 'guardrail_denied' });
});
