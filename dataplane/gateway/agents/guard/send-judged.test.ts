import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openTrace } from '#kit/http/trace-context';
import { until } from '#kit/testing/until';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AnswerFacts } from './judge-answer.ts';
import { sendJudgedAnswer } from './send-judged.ts';

type OpenRequest = AsyncDisposable & {
  readonly client: Socket;
  readonly outgoing: ServerResponse;
  /** Sends the stream of an image. @returns the error with which it ends */
  send(
    events: AsyncIterable<Buffer> | Iterable<Buffer>,
    judge: (texts: unknown) => Promise<void>,
    bounds: { readonly idleMs: number; readonly signal?: AbortSignal },
  ): Promise<unknown>;
};

/** A request whose client reads nothing at first. */
async function openRequest(): Promise<OpenRequest> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: gateway\r\n\r\n');
  const [incoming, outgoing] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  return {
    client,
    outgoing,
    send(events, judge, { idleMs, signal = new AbortController().signal }) {
      const facts = { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard: { judge } };
      const answer = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: Readable.from(events) };
      const exchange = { incoming, outgoing, trace: openTrace(undefined, false) };
      return sendJudgedAnswer(answer, facts as unknown as AnswerFacts, {
        exchange,
        signal,
        idleMs,
        onSent: () => undefined,
      }).catch((reason: unknown) => reason);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

const eventOf = (text: string): Buffer => Buffer.from(`data: {"text":"${text}"}\n\n`);

async function* endlessEvents() {
  for (;;) {
    yield eventOf('a'.repeat(4_000));
    await turn();
  }
}

/** The policy denies as soon as an event waits for the client. */
function denyOnceUnread(outgoing: ServerResponse, onDenied: () => void): () => Promise<void> {
  return async () => {
    if (outgoing.writableLength === 0) return;
    onDenied();
    throw new AgentRefusal('guardrail_denied');
  };
}

test('a client that reads slowly for longer than the idle time gets every event and the reason of the end', async () => {
  await using request = await openRequest();
  let received = '';
  request.client.on('data', (part) => {
    received = `${received}${part.toString('latin1')}`.slice(-1_000);
    request.client.pause();
    setTimeout(() => request.client.resume(), 10);
  });
  request.client.resume();
  const long = eventOf('a'.repeat(250_000));
  const events = [...Array.from({ length: 32 }, () => long), eventOf('secret')];
  const judge = async (texts: unknown): Promise<void> => {
    if (JSON.stringify(texts).includes('secret')) throw new AgentRefusal('guardrail_denied');
  };
  expect(await request.send(events, judge, { idleMs: 600 })).toMatchObject({ code: 'guardrail_denied' });
  expect(request.outgoing.writableFinished).toBe(true);
  await until('the client has the reason', () => received.includes('event: error'));
});

test('a client that reads nothing and keeps sending does not hold a denied stream beyond the time of the call', async () => {
  await using request = await openRequest();
  const sending = setInterval(() => request.client.write('\r\n'), 20);
  const time = new AbortController();
  const judge = denyOnceUnread(request.outgoing, () => void setTimeout(() => time.abort(), 100));
  const error = await request.send(endlessEvents(), judge, { idleMs: 600_000, signal: time.signal });
  clearInterval(sending);
  expect(error).toMatchObject({ code: 'guardrail_denied' });
  expect(request.outgoing.writableFinished).toBe(false);
});

test.each([
  ['disconnects', 600_000, (client: Socket) => void setImmediate(() => client.destroy())],
  ['reads nothing for the idle time', 100, () => undefined],
] as const)('a denied stream is over when its client %s before it has the last event', async (_, idleMs, onDenied) => {
  await using request = await openRequest();
  const judge = denyOnceUnread(request.outgoing, () => onDenied(request.client));
  expect(await request.send(endlessEvents(), judge, { idleMs })).toMatchObject({ code: 'guardrail_denied' });
});
