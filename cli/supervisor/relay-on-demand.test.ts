import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { ListenError } from '#kit/http/listen-error';
import { until } from '#kit/testing/until';
import { findLastingPort } from './free-port.ts';
import { relayOnDemand } from './relay-on-demand.ts';

const refused = 'It cannot start.\n';

/** The open connections of this process; the relay has the other ends. */
const openSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

/** A process that answers each request with its body. */
async function startProcess(): Promise<{ readonly port: number } & AsyncDisposable> {
  const server = createServer((request, response) => void request.pipe(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

// This test is the first one, because later tests leave idle connections of fetch.
test('a connection is answered 503 while the process does not listen, and is closed after the answer', async () => {
  const port = await findLastingPort();
  const relay = await relayOnDemand(await findLastingPort(), async () => port, refused);
  const before = openSockets();
  for (let at = 0; at < 2; at += 1) {
    const client = connect({ host: '127.0.0.1', port: Number(new URL(relay.url).port) });
    const text: Buffer[] = [];
    client.on('data', (chunk: Buffer) => text.push(chunk));
    client.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n');
    await once(client, 'close');
    expect(Buffer.concat(text).toString()).toMatch(/^HTTP\/1\.1 503 .*It cannot start\.\n$/s);
  }
  await until('no connection is left', () => openSockets() === before);
  const server = createServer((_request, response) => void response.end('served'));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await (await fetch(relay.url)).text()).toBe('served');
  server.closeAllConnections();
  server.close();
  relay.close();
});

test('the first connection starts the process once, and every connection reaches it', async () => {
  await using process = await startProcess();
  let starts = 0;
  const start = async (): Promise<number> => {
    starts += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return process.port;
  };
  const relay = await relayOnDemand(await findLastingPort(), start, refused);
  expect(starts).toBe(0);
  const texts = ['a', 'b'.repeat(1_000_000), 'c'];
  const answers = await Promise.all(texts.map((body) => fetch(relay.url, { method: 'POST', body })));
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(texts);
  await relay.start();
  expect(starts).toBe(1);
  relay.close();
  const late = connect({ host: '127.0.0.1', port: Number(new URL(relay.url).port) });
  await expect(once(late, 'connect')).rejects.toThrow('ECONNREFUSED');
});

test('a process that cannot start is answered with 503 and started again at the next connection', async () => {
  await using process = await startProcess();
  let starts = 0;
  const start = async (): Promise<number> => {
    starts += 1;
    if (starts === 1) throw new Error('no memory');
    return process.port;
  };
  const relay = await relayOnDemand(await findLastingPort(), start, refused);
  const first = await fetch(relay.url);
  expect([first.status, await first.text()]).toEqual([503, refused]);
  expect((await fetch(relay.url)).status).toBe(200);
  expect(starts).toBe(2);
  relay.close();
});

test('a client that disconnects while the process starts is forgotten', async () => {
  await using process = await startProcess();
  const gate = Promise.withResolvers<number>();
  const relay = await relayOnDemand(await findLastingPort(), () => gate.promise, refused);
  const client = connect({ host: '127.0.0.1', port: Number(new URL(relay.url).port) });
  await once(client, 'connect');
  client.destroy();
  gate.resolve(process.port);
  expect((await fetch(relay.url)).status).toBe(200);
  relay.close();
});

test('a close ends the connections that wait for the process', async () => {
  const gate = Promise.withResolvers<number>();
  let starts = 0;
  const start = (): Promise<number> => {
    starts += 1;
    return gate.promise;
  };
  const relay = await relayOnDemand(await findLastingPort(), start, refused);
  const asked = fetch(relay.url);
  asked.catch(() => undefined);
  await until('it starts', () => starts === 1);
  relay.close();
  await expect(asked).rejects.toThrow('fetch failed');
});

test('listening on a port in use fails with a ListenError', async () => {
  await using process = await startProcess();
  await expect(relayOnDemand(process.port, async () => 1, refused)).rejects.toThrow(ListenError);
});
