import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { Socket } from 'node:net';
import { closeServer, listenOnLoopback } from '../support/loopback.ts';

/**
 * The fault of one request: `busy` answers 429, `error` 500, `gone` 410; `reset` breaks the connection before the
 * request is forwarded, `lost` after it was executed, `cut` in the middle of the answer.
 */
export type Mishap = 'none' | 'busy' | 'error' | 'gone' | 'reset' | 'lost' | 'cut';

/** A proxy between one process and the API server, over plain HTTP on loopback. */
export type ApiProxy = AsyncDisposable & {
  readonly url: string;
  /** Chooses the fault of the next request. */
  choose: (isWatch: boolean) => Mishap;
  /** Breaks every open and new connection until it is called with false. */
  part(isParted: boolean): void;
  /** Leaves every current connection open and never sends on it again. */
  silence(): void;
  readonly counts: ReadonlyMap<Mishap | 'silenced' | 'parted', number>;
};

export async function startApiProxy(target: string, ca: string): Promise<ApiProxy> {
  const agent = new Agent({ keepAlive: true, ca, maxSockets: 256 });
  const sockets = new Set<Socket>();
  const silent = new WeakSet<Socket>();
  const counts = new Map<Mishap | 'silenced' | 'parted', number>();
  const count = (what: Mishap | 'silenced' | 'parted'): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  let isParted = false;
  const proxy: Pick<ApiProxy, 'choose'> = { choose: () => 'none' };

  const server = createServer({ keepAliveTimeout: 120_000 }, (incoming, outgoing) => {
    const { socket } = incoming;
    incoming.on('error', () => undefined);
    outgoing.on('error', () => undefined);
    if (silent.has(socket)) {
      incoming.resume();
      return;
    }
    const mishap = proxy.choose(/[?&]watch=true/.test(incoming.url ?? ''));
    count(mishap);
    answer(mishap, incoming, outgoing);
  });
  server.on('connection', (socket) => {
    if (isParted) {
      count('parted');
      socket.resetAndDestroy();
      return;
    }
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });

  function answer(mishap: Mishap, incoming: IncomingMessage, outgoing: ServerResponse): void {
    switch (mishap) {
      case 'busy':
        refuse(incoming, outgoing, 429, { 'retry-after': '1' });
        return;
      case 'error':
        refuse(incoming, outgoing, 500, {});
        return;
      case 'gone':
        refuse(incoming, outgoing, 410, {});
        return;
      case 'reset':
        incoming.socket.resetAndDestroy();
        return;
      case 'none':
      case 'lost':
      case 'cut':
        forward(mishap, incoming, outgoing);
        return;
    }
  }

  function forward(mishap: 'none' | 'lost' | 'cut', incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method = 'GET', headers, url = '/', socket } = incoming;
    const { host: _host, connection: _connection, ...rest } = headers;
    const onward = request(`${target}${url}`, { method, headers: rest, agent }, (answered) => {
      if (mishap === 'lost') {
        answered.resume().on('end', () => socket.resetAndDestroy());
        return;
      }
      if (silent.has(socket)) {
        answered.resume();
        return;
      }
      const { connection: _own, 'transfer-encoding': _encoding, ...shown } = answered.headers;
      outgoing.writeHead(answered.statusCode ?? 502, shown);
      outgoing.flushHeaders();
      let left = mishap === 'cut' ? 200 + Math.random() * 2_000 : Number.POSITIVE_INFINITY;
      answered.on('data', (chunk: Buffer) => {
        if (silent.has(socket)) return;
        outgoing.write(chunk.subarray(0, Math.min(left, chunk.length)));
        left -= chunk.length;
        if (left <= 0) socket.resetAndDestroy();
      });
      answered.on('end', () => (silent.has(socket) ? undefined : outgoing.end()));
      answered.on('error', () => (silent.has(socket) ? undefined : socket.destroy()));
    });
    onward.on('error', () => (silent.has(socket) ? undefined : socket.destroy()));
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  }

  const url = await listenOnLoopback(server);
  return Object.assign(proxy, {
    url,
    part(next: boolean) {
      isParted = next;
      if (next) for (const socket of sockets) socket.resetAndDestroy();
    },
    silence() {
      for (const socket of sockets) {
        silent.add(socket);
        count('silenced');
      }
    },
    counts,
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await closeServer(server);
    },
  });
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  code: number,
  headers: Readonly<Record<string, string>>,
): void {
  incoming.resume();
  const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'chaos', code };
  outgoing.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(status));
}
