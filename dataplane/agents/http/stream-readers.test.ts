import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '#kit/testing/until';
import { openBuiltAgent } from '../testing/built-agent.ts';
import { messageOf } from '../testing/start-agent.ts';
import { createStreamReaders } from './stream-readers.ts';

const mebibyte = 1_048_576;
const piece = Buffer.alloc(mebibyte, 'a');
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
  /** A client that reads nothing until it is resumed. */
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

test('a reader that has left more than its bytes unread gets no further piece, and one that reads gets each', async () => {
  const { begin } = await open();
  const ownBytes = 2 * mebibyte;
  const readers = createStreamReaders({ readers: 2, ownBytes, allBytes: 100 * mebibyte });
  const slow = await begin();
  const toSlow = readers.open(slow.outgoing);
  let sent = 0;
  for (; toSlow.send(piece); sent += 1) await turn();
  expect(slow.outgoing.writableLength).toBeGreaterThan(ownBytes);
  expect(slow.outgoing.writableLength).toBeLessThanOrEqual(ownBytes + mebibyte + 1_024);
  const quick = await begin();
  quick.socket.resume();
  const toQuick = readers.open(quick.outgoing);
  for (let count = 0; count < 4 * sent; count += 1) {
    expect(toQuick.send(piece)).toBe(true);
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
    toFirst.send(piece);
    await turn();
  }
  expect(first.outgoing.destroyed).toBe(false);
  while (!first.outgoing.destroyed) {
    expect(second.outgoing.writableLength).toBeLessThanOrEqual(4 * mebibyte);
    toSecond.send(piece);
    await turn();
  }
  expect(second.outgoing.destroyed).toBe(false);
});

test('streams are counted until they were read or closed, also after their end', async () => {
  const { begin } = await open();
  const readers = createStreamReaders({ readers: 2, ownBytes: 100 * mebibyte, allBytes: 100 * mebibyte });
  const [first, second, third] = [await begin(), await begin(), await begin()];
  const toFirst = readers.open(first.outgoing);
  readers.open(second.outgoing);
  const refused = expect.objectContaining({ code: 'too_many_runs' });
  expect(() => readers.open(third.outgoing)).toThrow(refused);
  while (first.outgoing.writableLength === 0) {
    toFirst.send(piece);
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

const stream = (url: string): Promise<Response> =>
  fetch(`${url}/message:stream`, {
    method: 'POST',
    headers: { 'x-user-id': 'ann', 'a2a-version': '1.0', 'content-type': 'application/json' },
    body: JSON.stringify(messageOf({ text: 'hello' })),
  });

test('the stream of a reader that leaves too much unread ends with a typed error, and its task can be read', async () => {
  // The artifact and the final status are sent in one turn, so that nothing is read between them.
  const readers = createStreamReaders({ readers: 16, ownBytes: 0, allBytes: mebibyte });
  await using agent = await openBuiltAgent({ readers });
  const text = await (await stream(agent.url)).text();
  const events = text.split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  expect(events).toHaveLength(4);
  const error = events[3]?.replace('event: error\ndata: ', '') ?? '';
  expect(JSON.parse(error)).toMatchObject({ error: { status: 'ABORTED', details: [{ reason: 'stream_unread' }] } });
  const { task } = JSON.parse(events[0]?.replace('data: ', '') ?? '') as { task: { id: string } };
  const headers = { 'x-user-id': 'ann', 'a2a-version': '1.0' };
  const read = await fetch(`${agent.url}/tasks/${task.id}`, { headers });
  expect(await read.json()).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
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
