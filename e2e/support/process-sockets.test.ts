import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { hasProcessTable } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import { connectionsTo, socketsOf, tcpConnections } from './process-sockets.ts';

async function listen() {
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { server, accepted, port: typeof address === 'object' && address !== null ? address.port : 0 };
}

test.skipIf(!hasProcessTable)(
  'the number of connections of one process to one port is counted (needs /proc)',
  async () => {
    const [one, other] = [await listen(), await listen()];
    const clients = [one.port, one.port, one.port, other.port].map((port) => connect(port, '127.0.0.1'));
    await Promise.all(clients.map((client) => once(client, 'connect')));
    const countOf = ({ port }: typeof one) => connectionsTo(port, socketsOf(process.pid));
    expect([countOf(one), countOf(other)]).toEqual([3, 1]);
    const at = () => tcpConnections(socketsOf(process.pid)).filter(({ localPort }) => localPort === one.port);
    await until('the server has accepted them', () => at().length === 4);
    // One of the sockets listens.
    expect(
      at()
        .map(({ isEstablished }) => isEstablished)
        .toSorted(),
    ).toEqual([false, true, true, true]);
    expect(connectionsTo(one.port, socketsOf(process.ppid))).toBe(0);
    clients[0]?.destroy();
    await until('it is closed', () => countOf(one) === 2);
    for (const client of clients) client.destroy();
    for (const { server, accepted } of [one, other]) {
      for (const socket of accepted) socket.destroy();
      server.close();
    }
    expect(socketsOf(2 ** 30)).toEqual(new Set());
  },
);
