import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';

/** Listens on loopback, on a free port unless one is given; returns the origin. */
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

/** A free port of loopback, for programs that need a number. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { port } = new URL(await listenOnLoopback(server));
  server.close();
  await once(server, 'close');
  return Number(port);
}
