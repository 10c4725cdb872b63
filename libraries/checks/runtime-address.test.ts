import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { type CheckCall, deadlinePassed, openRuntimeAddress } from './runtime-address.ts';

const call: CheckCall = { path: '/request', headers: {}, body: Buffer.from('{}'), maxAnswerBytes: 10 };

const never = performance.now() + 600_000;

/** A server that answers every connection with these bytes and leaves it open. */
async function answering(bytes: string): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(bytes));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bound = server.address();
  return { server, origin: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}` };
}

test('a call whose deadline has passed is not sent and releases its slot', async () => {
  const { server, origin } = await answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
  await using address = openRuntimeAddress(origin, 1, () => 0);
  const reason = new Error('over');
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await expect(address.call(call, { signal: AbortSignal.abort(reason), deadline: never })).rejects.toBe(reason);
  expect([address.inUse(), connections]).toEqual([0, 0]);
  expect(await address.call(call, { signal: undefined, deadline: never })).toMatchObject({
    kind: 'answer',
    status: 200,
  });
  server.close();
});

test('a call whose deadline passes before its answer rejects, and one whose deadline has passed is not sent', async () => {
  const { server, origin } = await answering('');
  await using address = openRuntimeAddress(origin, 1, () => 0);
  const waits = address.call(call, { signal: undefined, deadline: performance.now() + 20 });
  const queued = address.call(call, { signal: undefined, deadline: performance.now() + 10 });
  await expect(queued).rejects.toBe(deadlinePassed);
  await expect(waits).rejects.toBe(deadlinePassed);
  await expect(address.call(call, { signal: undefined, deadline: 0 })).rejects.toBe(deadlinePassed);
  expect(address.inUse()).toBe(0);
  server.close();
});

test('a call that is aborted while it connects ends immediately', async () => {
  const { server, origin } = await answering('');
  await using address = openRuntimeAddress(origin, 1, () => 0);
  const given = new AbortController();
  const going = address.call(call, { signal: given.signal, deadline: never });
  given.abort(new Error('aborted'));
  await expect(going).rejects.toThrow('aborted');
  expect(address.inUse()).toBe(0);
  server.close();
});

test.each([
  ['103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 10', 'x'.repeat(10), { kind: 'answer', status: 200 }],
  ['200 OK\r\ncontent-length: 11', 'x'.repeat(11), { kind: 'too_long' }],
  ['200 OK\r\ntransfer-encoding: chunked', '6\r\n123456\r\n5\r\n78901\r\n', { kind: 'too_long' }],
  ['200 OK\r\ncontent-length: 0', '', { kind: 'answer', status: 200 }],
  ['307 Temporary Redirect\r\nlocation: /\r\ncontent-length: 0', '', { kind: 'answer', status: 307 }],
  ['200 OK\r\ntransfer-encoding: chunked', 'no chunk\r\n', { kind: 'broken' }],
])(
  'only a complete final answer within the size limit is an answer, whatever its status: %j',
  async (head, body, attempt) => {
    const { server, origin } = await answering(`HTTP/1.1 ${head}\r\n\r\n${body}`);
    await using address = openRuntimeAddress(origin, 1, () => 0);
    expect(await address.call(call, { signal: undefined, deadline: never })).toMatchObject(attempt);
    expect(address.inUse()).toBe(0);
    server.close();
  },
);
