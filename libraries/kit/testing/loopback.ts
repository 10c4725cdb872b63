import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';

/** Listens on loopback, on a free port unless a port is given; returns the origin. */
export async function listenOnLoopback(server: SocketServer, port = 0): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Closes a server and all of its connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Listens on a port of loopback until it is disposed. */
export async function occupyPort(port: number): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer();
  await listenOnLoopback(server, port);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

/**
 * A port of loopback on which no server listens, for addresses that refuse connections. The port is below the range
 * from which the system takes ports for connections and for port 0, so that it stays free.
 */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const isFree = await listenOnLoopback(server, port).then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
