import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openBuiltAgent } from '../testing/built-agent.ts';
import { messageOf } from '../testing/start-agent.ts';
import { createStreamReaders } from './stream-readers.ts';

const mebibyte = 1_048_576;
const pieceOf = (mebibytes = 1): Buffer => Buffer.alloc(mebibytes * mebibyte, 'a');
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A server whose answers the test writes. */
async function open() {
  const answers: ServerResponse[] = [];
  const server = createServer((_, outgoing) => void answers.push(outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  /** Opens a client that reads nothing until it is resumed. */
  const begin = async (): Promise<{ readonly outgoing: ServerResponse; readonly socket: Socket }> => {
    const count = answers.length;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined).pause();
    sockets.push(socket);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    const outgoing = await until('the request has arrived', () => answers[count]);
    outgoing.writeHead(200);
    return { outgoing, socket };
  };
  return { begin };
}

test('a reader that has left more than its bytes unread gets no further piece, and an active reader gets each', async () => {
  const { begin } = await open();
  const ownBytes = 2 * mebibyte;
  const readers = createStreamReaders({ readers: 2, ownBytes, allBytes: 100 * mebibyte });
  const slow = await begin();
  const toSlow = readers.open(slow.outgoing);
  let sent = 0;
  for (; toSlow.send(pieceOf()); sent += 1) await turn();
  expect(slow.outgoing.writableLength).toBeGreaterThan(ownBytes);
  expect(slow.outgoing.writableLength).toBeLessThanOrEqual(ownBytes + mebibyte + 1_024);
  const quick = await begin();
  quick.socket.resume();
  const toQuick = readers.open(quick.outgoing);
  for (let count = 0; count < 4 * sent; count += 1) {
    expect(toQuick.send(pieceOf())).toBe(true);
    await until('it is read', () => quick.outgoing.writableLength === 0);
  }
});

test('if all readers leave too much unread together, the connection with the most unread bytes is closed', async () => {
  const { begin } = await open();
  const allBytes = 6 * mebibyte;
  const readers = createStreamReaders({ readers: 3, ownBytes: 100 * mebibyte, allBytes });
  const [first, second] = [await begin(), await begin()];
  const [toFirst, toSecond] = [readers.open(first.outgoing), readers.open(second.outgoing)];
  while (first.outgoing.writableLength < 4 * mebibyte) {
    toFirst.send(pieceOf());
    await turn();
  }
  expect(first.outgoing.destroyed).toBe(false);
  while (!first.outgoing.destroyed) {
    expect(second.outgoing.writableLength).toBeLessThanOrEqual(4 * mebibyte);
    toSecond.send(pieceOf());
    await turn();
  }
  expect(second.outgoing.destroyed).toBe(false);
});

test('a piece that several readers leave unread counts once, and separate pieces count separately', async () => {
  const { begin } = await open();
  const limits = { readers: 8, ownBytes: 100 * mebibyte, allBytes: 20 * mebibyte };
  const readers = createStreamReaders(limits);
  const clients = [await begin(), await begin(), await begin(), await begin()];
  const streams = clients.map(({ outgoing }) => readers.open(outgoing));
  const closed = (): number => clients.filter(({ outgoing }) => outgoing.destroyed).length;
  const shared = pieceOf(16);
  for (const stream of streams) stream.send(shared);
  await turn();
  await turn();
  const unread = clients.reduce((sum, { outgoing }) => sum + outgoing.writableLength, 0);
  expect([unread > limits.allBytes, closed()]).toEqual([true, 0]);
  streams[0]?.send(pieceOf(16));
  await until('a connection is closed', () => closed() > 0);
  expect([closed(), clients[0]?.outgoing.destroyed]).toEqual([1, true]);
  for (const { socket } of clients) socket.resume();
  await until('the others have read it', () => clients.slice(1).every(({ outgoing }) => outgoing.writableLength === 0));
  // Bytes that were read or closed are no longer counted.
  for (const stream of streams.slice(1)) stream.send(pieceOf(6));
  await turn();
  expect(closed()).toBe(1);
});

test('streams are counted until they were read or closed, even after their end', async () => {
  const { begin } = await open();
  const readers = createStreamReaders({ readers: 2, ownBytes: 100 * mebibyte, allBytes: 100 * mebibyte });
  const [first, second, third] = [await begin(), await begin(), await begin()];
  const toFirst = readers.open(first.outgoing);
  readers.open(second.outgoing);
  const refused = expect.objectContaining({ code: 'too_many_runs' });
  expect(() => readers.open(third.outgoing)).toThrow(refused);
  while (first.outgoing.writableLength === 0) {
    toFirst.send(pieceOf());
    await turn();
  }
  first.outgoing.end();
  await turn();
  expect(() => readers.open(third.outgoing)).toThrow(refused);
  first.socket.resume();
  await until('it is read', () => first.outgoing.writableFinished && first.outgoing.destroyed);
  readers.open(third.outgoing);
  const fourth = await begin();
  expect(() => readers.open(fourth.outgoing)).toThrow(refused);
  second.socket.destroy();
  await until('its client has left', () => second.outgoing.destroyed);
  readers.open(fourth.outgoing);
});

test('unread answers count together with unread streams, and an answer that was read no longer counts', async () => {
  const { begin } = await open();
  const readers = createStreamReaders({ readers: 1, ownBytes: 100 * mebibyte, allBytes: 20 * mebibyte });
  const answer = async () => {
    const client = await begin();
    client.outgoing.end(pieceOf(9));
    readers.answered(client.outgoing);
    await turn();
    return client;
  };
  const [first, second] = [await answer(), await answer()];
  expect([first.outgoing.destroyed, second.outgoing.destroyed]).toEqual([false, false]);
  first.socket.resume();
  await until('the first one is read', () => first.outgoing.destroyed);
  const third = await answer();
  expect([second.outgoing.destroyed, third.outgoing.destroyed]).toEqual([false, false]);
  const streamed = await begin();
  readers.open(streamed.outgoing).send(pieceOf(9));
  await until('a connection is closed', () =>
    [second, third, streamed].some(({ outgoing }) => outgoing.destroyed && !outgoing.writableFinished),
  );
  expect([second, third, streamed].filter(({ outgoing }) => outgoing.destroyed)).toHaveLength(1);
});

test('clients that leave pages of tasks unread do not fill the memory of the process: the slowest lose their connections', async () => {
  const readers = createStreamReaders({ readers: 64, ownBytes: 100 * mebibyte, allBytes: 14 * mebibyte });
  await using agent = await openBuiltAgent({ readers });
  agent.upstream.play({ kind: 'answer', content: 'x'.repeat(100_000) });
  for (let count = 0; count < 25; count += 1) await (await stream(agent.url)).text();
  // A page has 20 tasks of 200 KB. The buffers of a connection outside of the process hold one page, but not three.
  const [askers, pages] = [4, 3];
  const request = (connection: string): string =>
    `GET /tasks?includeArtifacts=true HTTP/1.1\r\nhost: 127.0.0.1\r\nx-user-id: ann\r\na2a-version: 1.0\r\nconnection: ${connection}\r\n\r\n`;
  const { hostname, port } = new URL(agent.url);
  const clients = Array.from({ length: askers }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.pause().write(request('keep-alive').repeat(pages - 1) + request('close'));
    return socket;
  });
  await until('each request was answered', () => agent.refusals.length === 25 + askers * pages);
  await turn();
  const lengths = await Promise.all(
    clients.map(async (socket) => {
      let length = 0;
      socket.on('data', (bytes) => {
        length += bytes.length;
      });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.resume();
      await closed;
      return length;
    }),
  );
  const whole = lengths.filter((length) => length > pages * 4_000_000).length;
  expect(whole).toBeGreaterThanOrEqual(1);
  expect(whole).toBeLessThan(askers);
});

const stream = (url: string): Promise<Response> =>
  fetch(`${url}/message:stream`, {
    method: 'POST',
    headers: { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf({ text: 'hello' })),
  });

/** The text of a stream, and whether it has a clean end. */
async function readAll({ body }: Response): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  let text = '';
  try {
    for await (const bytes of body ?? []) text += Buffer.from(bytes).toString();
  } catch {
    return { text, isWhole: false };
  }
  return { text, isWhole: true };
}

test('a stream whose reader leaves too much unread ends with a typed error, and its task can be read', async () => {
  // The artifact and the final status are sent in one turn, so that nothing is read between them.
  const readers = createStreamReaders({ readers: 16, ownBytes: 0, allBytes: mebibyte });
  await using agent = await openBuiltAgent({ readers });
  const { text, isWhole } = await readAll(await stream(agent.url));
  expect(isWhole).toBe(false);
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  expect(events).toHaveLength(4);
  const error = events[3]?.replace('event: error\ndata: ', '') ?? '';
  expect(JSON.parse(error)).toMatchObject({ error: { status: 'ABORTED', details: [{ reason: 'stream_unread' }] } });
  const { task } = JSON.parse(events[0]?.replace('data: ', '') ?? '') as { task: { id: string } };
  const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0' };
  const read = await fetch(`${agent.url}/tasks/${task.id}`, { headers });
  expect(await read.json()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
});

test('the run of a reader that left too much unread continues, and that of a client that has left is cancelled', async () => {
  const limits = { readers: 16, allBytes: mebibyte };
  const cutting = createStreamReaders({ ...limits, ownBytes: -1 });
  const usual = createStreamReaders({ ...limits, ownBytes: mebibyte });
  let chosen = cutting;
  await using agent = await openBuiltAgent({
    readers: { open: (outgoing) => chosen.open(outgoing), answered: (outgoing) => chosen.answered(outgoing) },
  });
  agent.upstream.play({ kind: 'silence' });
  const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0' };
  const tasks = async (): Promise<readonly { readonly status: { readonly state: string } }[]> =>
    ((await (await fetch(`${agent.url}/tasks`, { headers })).json()) as { tasks: [] }).tasks;
  const { text, isWhole } = await readAll(await stream(agent.url));
  expect([isWhole, text]).toEqual([false, expect.stringContaining('stream_unread')]);
  // The client of this run leaves later than the other one, so that without the choice the other run would be cancelled
  // first.
  chosen = usual;
  await (await stream(agent.url)).body?.cancel();
  await until('a run has ended', () => agent.codes.length > 0);
  const states = (await tasks()).map(({ status }) => status.state);
  expect(states.toSorted()).toEqual(['TASK_STATE_CANCELED', 'TASK_STATE_WORKING']);
});

test('a stream above the number of readers of a process is refused without a run', async () => {
  const readers = createStreamReaders({ readers: 1, ownBytes: mebibyte, allBytes: mebibyte });
  await using agent = await openBuiltAgent({ readers });
  agent.upstream.play({ kind: 'silence' });
  const first = await stream(agent.url);
  expect((await stream(agent.url)).status).toBe(429);
  await until('the first one runs', () => agent.upstream.seen.length === 1);
  await first.body?.cancel();
  agent.upstream.play({ kind: 'answer', content: 'fine' });
  const next = await until('there is room again', async () => {
    const answer = await stream(agent.url);
    return answer.status === 200 && answer;
  });
  expect(await next.text()).toContain('TASK_STATE_COMPLETED');
  expect(agent.upstream.seen).toHaveLength(2);
});
