import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';
import { neverConnected } from './never-connected.ts';

async function failureOf(url: string, options: object = {}): Promise<unknown> {
  return await request(url, { method: 'POST', body: 'hello', ...options }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('a request to a port without a listener, or to a name without an address, never had a connection', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  expect(neverConnected(await failureOf(`http://127.0.0.1:${port}`))).toBe(true);
  expect(neverConnected(await failureOf(`http://localhost:${port}`))).toBe(true);
  expect(neverConnected(await failureOf('http://name.invalid'))).toBe(true);
});

test('a request whose connection breaks did have a connection', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using agent = Object.assign(new Agent(), { [Symbol.asyncDispose]: () => agent.destroy() });
  const error = await failureOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { dispatcher: agent });
  expect(error).toBeInstanceOf(Error);
  expect(neverConnected(error)).toBe(false);
  server.close();
});

test('a failed request to several addresses counts as never connected only if it connected to none of the addresses', () => {
  const refused = Object.assign(new Error('refused'), { syscall: 'connect', code: 'ECONNREFUSED' });
  const late = Object.assign(new Error('late'), { code: 'UND_ERR_CONNECT_TIMEOUT' });
  const reset = Object.assign(new Error('reset'), { syscall: 'read', code: 'ECONNRESET' });
  expect(neverConnected(new TypeError('fetch failed', { cause: late }))).toBe(true);
  expect(neverConnected(new AggregateError([refused, late]))).toBe(true);
  expect(neverConnected(new AggregateError([refused, reset]))).toBe(false);
  expect(neverConnected('refused')).toBe(false);
});
