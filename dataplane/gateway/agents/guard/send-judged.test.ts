import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type ByteBudget, createByteBudget } from '#kit/http/byte-budget';
import { openTrace } from '#kit/http/trace-context';
import { until } from '#kit/testing/until';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { AnswerFacts } from './judge-answer.ts';
import { createEventJudge } from './judge-events.ts';
import { sendJudgedAnswer } from './send-judged.ts';
import type { StageGuard } from './version-guard.ts';

type Judge = (texts: unknown) => Promise<void>;

type Bounds = {
  readonly idleMs?: number;
  readonly signal?: AbortSignal;
  readonly bytes?: ReturnType<ByteBudget['open']>;
  readonly guard?: object;
};

type OpenRequest = AsyncDisposable & {
  readonly client: Socket;
  readonly outgoing: ServerResponse;
  /** Sends the answer of an image. @returns the error with which it ends */
  send(
    body: AsyncIterable<Buffer> | Iterable<Buffer>,
    judge: Judge,
    bounds?: Bounds & { readonly type?: string },
  ): Promise<unknown>;
};

/** Opens a request whose client reads nothing at first. */
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
    send(body, judge, bounds = {}) {
      const { idleMs = 600_000, signal = new AbortController().signal, type = 'text/event-stream' } = bounds;
      const { bytes = budgetOf(268_435_456).open(), guard = { judge } } = bounds;
      const facts = { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard };
      const answer = { status: 200, headers: { 'content-type': type }, body: Readable.from(body) };
      const exchange = { incoming, outgoing, trace: openTrace(undefined, false) };
      const sending = { exchange, signal, idleMs, bytes, onSent: () => undefined };
      return sendJudgedAnswer(answer, facts as unknown as AnswerFacts, sending).catch((reason: unknown) => reason);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}

const budgetOf = (limit: number) => createByteBudget({ limit, largest: limit, waitMs: 20 });
const passes: Judge = async () => undefined;
const json = { type: 'application/json' } as const;
const mebibyte = 1_048_576;

const eventOf = (text: string): Buffer => Buffer.from(`data: {"message":{"text":"${text}"}}\n\n`);

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

test('a client that reads nothing and keeps sending does not hold a denied stream beyond the time limit of the call', async () => {
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
] as const)(
  'a denied stream has ended when its client %s before it has the last event',
  async (_, idleMs, onDenied) => {
    await using request = await openRequest();
    const judge = denyOnceUnread(request.outgoing, () => onDenied(request.client));
    expect(await request.send(endlessEvents(), judge, { idleMs })).toMatchObject({ code: 'guardrail_denied' });
  },
);

test.each([
  ['fits', 0, undefined],
  ['lacks one byte', 1, 'overloaded'],
])('the bytes and values of a judged answer are held in a budget that %s', async (_what, missing, code) => {
  await using request = await openRequest();
  request.client.resume();
  const answer = Buffer.from(JSON.stringify({ text: 'a'.repeat(2 * mebibyte) }));
  // The object and its text are two values.
  const budget = budgetOf(answer.length + 2 * 256 - missing);
  const bytes = budget.open();
  const error = await request.send([answer.subarray(0, mebibyte), answer.subarray(mebibyte)], passes, {
    ...json,
    bytes,
  });
  expect((error as AgentRefusal | undefined)?.code).toBe(code);
  expect(request.outgoing.headersSent).toBe(code === undefined);
  bytes[Symbol.dispose]();
  expect(budget.taken).toBe(0);
});

test.each([
  ['4 MiB', 4 * mebibyte, undefined],
  ['one byte more', 4 * mebibyte + 1, 'answer_refused'],
])('a judged answer of %s (%i) ends with the code %s', async (_what, length, code) => {
  await using request = await openRequest();
  request.client.resume();
  const answer = Buffer.from(`{"text":"${'a'.repeat(length - '{"text":""}'.length)}"}`);
  const error = await request.send([answer], passes, json);
  expect((error as AgentRefusal | undefined)?.code).toBe(code);
});

test.each([
  ['32,768 values', 32_768, undefined],
  ['one value more', 32_769, 'answer_refused'],
])('a judged answer of %s (%i) ends with the code %s', async (_what, values, code) => {
  await using request = await openRequest();
  request.client.resume();
  // The object and the list count as values, too.
  const answer = Buffer.from(JSON.stringify({ data: Array.from({ length: values - 2 }, () => 0) }));
  const error = await request.send([answer], passes, json);
  expect((error as AgentRefusal | undefined)?.code).toBe(code);
});

/** An update of an artifact whose one part has this many bytes as JSON. */
function updateOf(artifactId: string, length: number, more: object = {}): Buffer {
  const parts = [{ text: 'a'.repeat(length - '{"text":""}'.length) }];
  return Buffer.from(`data: ${JSON.stringify({ artifactUpdate: { artifact: { artifactId, parts }, ...more } })}\n\n`);
}

test.each([
  ['4 MiB', 0, undefined],
  ['one byte more', 1, 'answer_refused'],
])('the open artifacts of a stream hold %s together', async (_what, more, code) => {
  await using request = await openRequest();
  request.client.resume();
  const events = [
    updateOf('complete', 3 * mebibyte, { lastChunk: true }),
    updateOf('replaced', 2 * mebibyte),
    updateOf('replaced', mebibyte),
    updateOf('second', mebibyte),
    updateOf('third', mebibyte),
    updateOf('second', mebibyte + more, { append: true }),
  ];
  const error = await request.send(events, passes);
  expect((error as AgentRefusal | undefined)?.code).toBe(code);
});

test('a stream counts its held bytes above 1 MiB in the budget, and releases them after the artifact was read', async () => {
  await using request = await openRequest();
  request.client.resume();
  const budget = budgetOf(64 * mebibyte);
  const taken: number[] = [];
  async function* events() {
    yield updateOf('one', 2 * mebibyte);
    await turn();
    taken.push(budget.taken);
    yield updateOf('one', 1_000, { append: true, lastChunk: true });
    await until('the client has read the artifact', () => request.outgoing.writableLength === 0);
    yield eventOf('last');
    await turn();
    taken.push(budget.taken);
  }
  expect(await request.send(events(), passes, { bytes: budget.open() })).toBeUndefined();
  expect(taken[0]).toBeGreaterThanOrEqual(mebibyte);
  expect(taken[1]).toBe(0);
});

test.each([
  ['less than 1 MiB', mebibyte / 4, undefined],
  ['more than 1 MiB', 2 * mebibyte, 'overloaded'],
])('the outcome of a judged stream that holds %s while the budget is used', async (_what, length, code) => {
  await using request = await openRequest();
  request.client.resume();
  const error = await request.send([updateOf('one', length)], passes, { bytes: budgetOf(1).open() });
  expect((error as AgentRefusal | undefined)?.code).toBe(code);
});

test('the parts of a streamed plain text are held in about the bytes of their text', async () => {
  const signal = new AbortController().signal;
  const sent: unknown[] = [];
  const guard = { judge: passes } as unknown as StageGuard;
  const judge = createEventJudge({ operation: { mode: 'A2A' }, version: {}, asked: undefined, guard } as AnswerFacts, {
    ...{ signal, hold: () => true },
    emit: (data) => void sent.push(JSON.parse(data.toString('utf8'))),
  });
  const updateWith = (part: object, more: object): Promise<void> =>
    judge.take(
      Buffer.from(JSON.stringify({ artifactUpdate: { artifact: { artifactId: 'a', parts: [part] }, ...more } })),
    );
  for (let at = 0; at < 10_000; at += 1)
    await updateWith({ text: String(at % 1_000).padStart(3, '0') }, { append: at > 0 });
  expect(judge.heldBytes).toBeLessThan(200_000);
  // A part of another kind is held together with its values, and so is a text that follows it.
  const before = judge.heldBytes;
  await updateWith({ data: [1, 2] }, { append: true });
  expect(judge.heldBytes - before).toBe('{"data":[1,2]}'.length + 4 * 256);
  await updateWith({ text: 'end' }, { append: true, lastChunk: true });
  expect(judge.heldBytes).toBe(0);
  const text = Array.from({ length: 10_000 }, (_, at) => String(at % 1_000).padStart(3, '0')).join('');
  expect(sent).toMatchObject([
    { artifactUpdate: { artifact: { parts: [{ text }, { data: [1, 2] }, { text: 'end' }] } } },
  ]);
});

test('short pieces of texts that wait for their windows count with their complete memory', async () => {
  const signal = new AbortController().signal;
  const guard = { judge: passes, judgesWindows: true, judgeWindow: async () => 'pass' } as unknown as StageGuard;
  const parts = { signal, hold: () => true, emit: () => undefined };
  const judge = createEventJudge(
    { operation: { mode: 'A2A' }, version: {}, asked: undefined, guard } as AnswerFacts,
    parts,
  );
  const pieces = Array.from({ length: 1_000 }, () => ({ text: 'a' }));
  for (let at = 0; at < 64; at += 1) {
    const artifact = { artifactId: String(at), parts: pieces };
    await judge.take(Buffer.from(JSON.stringify({ artifactUpdate: { artifact } })));
  }
  expect(judge.heldBytes).toBeGreaterThan(64 * 1_000 * 128);
});

test('a part is held as two further texts while its windows are judged, and not without the bytes for them', async () => {
  const stream = async (budget: ByteBudget) => {
    await using request = await openRequest();
    request.client.resume();
    let taken = 0;
    const judgeWindow = async (): Promise<'pass'> => {
      taken = Math.max(taken, budget.taken);
      return 'pass';
    };
    const guard = { judge: passes, judgesWindows: true, judgeWindow };
    const error = await request.send([updateOf('one', mebibyte)], passes, { bytes: budget.open(), guard });
    return { code: (error as AgentRefusal | undefined)?.code, taken };
  };
  const free = await stream(budgetOf(64 * mebibyte));
  // The first MiB of a stream is not counted.
  expect(free.taken).toBeGreaterThanOrEqual(2 * mebibyte);
  expect(await stream(budgetOf(free.taken))).toEqual({ code: undefined, taken: free.taken });
  expect(await stream(budgetOf(free.taken - 1))).toEqual({ code: 'overloaded', taken: 0 });
});

test('an artifact of very many parts is read in a time that grows linearly with their number', async () => {
  await using request = await openRequest();
  request.client.resume();
  const parts = Array.from({ length: 16_000 }, () => ({ text: 'a' }));
  const event = Buffer.from(
    `data: ${JSON.stringify({ artifactUpdate: { artifact: { artifactId: 'one', parts } } })}\n\n`,
  );
  expect(await request.send([event], passes)).toBeUndefined();
});
