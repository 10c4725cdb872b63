import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';

/** State of a connection; `exchanges` are its requests in order and may include answered requests. */
type Connection = { isOld: boolean; last: IncomingMessage | undefined; readonly exchanges: Exchange[] };
type Exchange = { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse };

export type Connections = {
  /** Records a request before its handler runs. */
  started(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** The requests of a connection whose responses are not complete. */
  inFlight(socket: Socket): readonly Exchange[];
  /** Whether the last request of a connection has not been received completely. */
  lastIsUnread(socket: Socket): boolean;
  /** See `Listening.drain`. */
  drain(options: { readonly graceMs: number; readonly idleMs: number }): Promise<void>;
};

/**
 * Tracks the connections of a server, so that it can drain them without losing a request.
 * @param oldMs the largest age after which a connection is closed with its next response; never when absent
 */
export function watchConnections(server: Server, oldMs?: number): Connections {
  const sockets = new Map<Socket, Connection>();
  const handshakes = server instanceof TlsServer ? watchHandshakes(server) : undefined;
  let draining: Promise<void> | undefined;
  /** Whether idle connections are closed. */
  let isClosing = false;
  let allGone: () => void = () => undefined;

  server.on(connectionEvent(server), (socket: Socket) => {
    const connection: Connection = { isOld: false, last: undefined, exchanges: [] };
    sockets.set(socket, connection);
    const aging = startAging(connection);
    socket.once('close', () => {
      sockets.delete(socket);
      clearTimeout(aging);
      if (sockets.size === 0) allGone();
    });
  });

  /** The random part spreads the reconnects of clients that connected together. */
  function startAging(connection: Connection): NodeJS.Timeout | undefined {
    if (oldMs === undefined) return undefined;
    const age = (): void => {
      connection.isOld = true;
    };
    return setTimeout(age, oldMs * (0.5 + Math.random() / 2)).unref();
  }

  function started(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const connection = sockets.get(incoming.socket);
    if (connection !== undefined) {
      connection.last = incoming;
      forgetAnswered(connection);
      connection.exchanges.push({ incoming, outgoing });
      if (connection.isOld) outgoing.shouldKeepAlive = false;
    }
    if (draining === undefined) return;
    outgoing.shouldKeepAlive = false;
    outgoing.once('close', closeIfIdle);
  }

  function closeIfIdle(): void {
    if (isClosing) server.closeIdleConnections();
  }

  /** While clients still use their connections, each response has `connection: close`. */
  async function waitForLastRequests(idleMs: number): Promise<void> {
    if (idleMs === 0 || sockets.size === 0) return;
    const gone = new Promise<void>((resolve) => {
      allGone = resolve;
    });
    await Promise.race([gone, pause(idleMs, undefined, { ref: false })]);
  }

  async function drain({ graceMs, idleMs }: { readonly graceMs: number; readonly idleMs: number }): Promise<void> {
    for (const connection of sockets.values()) {
      for (const { outgoing } of openExchanges(connection)) {
        outgoing.shouldKeepAlive = false;
        outgoing.once('close', closeIfIdle);
      }
    }
    await waitForLastRequests(idleMs);
    isClosing = true;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    // In one iteration of the event loop, Node reads the bytes that the kernel has received; connections that have sent
    // nothing are closed.
    await setImmediate();
    handshakes?.end();
    for (const [socket] of sockets) {
      if (socket.bytesRead === 0) socket.destroy();
    }
    await closed;
    clearTimeout(grace);
  }

  return {
    started,
    inFlight: (socket) => openExchanges(sockets.get(socket)),
    lastIsUnread: (socket) => sockets.get(socket)?.last?.complete === false,
    drain(options) {
      draining ??= drain(options);
      return draining;
    },
  };
}

/** The event of a connection that can transfer requests: with TLS, the event after the handshake. */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return server instanceof TlsServer ? 'secureConnection' : 'connection';
}

/** `server.close` waits for the connections whose handshake is open, which no method of the server closes. */
function watchHandshakes(server: TlsServer): { end(): void } {
  const open = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    open.set(peer, socket);
    socket.once('close', () => {
      if (open.get(peer) === socket) open.delete(peer);
    });
  });
  server.on('secureConnection', (socket: Socket) => open.delete(peerOf(socket)));
  return {
    end() {
      for (const socket of open.values()) socket.destroy();
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Node emits `close` for a response when its bytes were handed to the kernel or the connection broke. */
function forgetAnswered({ exchanges }: Connection): void {
  while (exchanges[0]?.outgoing.closed === true) exchanges.shift();
}

function openExchanges(connection: Connection | undefined): readonly Exchange[] {
  return connection?.exchanges.filter(({ outgoing }) => !outgoing.closed) ?? [];
}

/** Time for a client to read the last response before the connection is closed. */
const LINGER_MS = 1000;

/**
 * Node closes a connection right after its last response. If bytes of the client are unread or arrive later, the kernel
 * resets the connection and the client may lose the response. This function closes only the sending side and waits for
 * the client to close (RFC 9112 §9.6).
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed || socket.writableEnded) return;
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
