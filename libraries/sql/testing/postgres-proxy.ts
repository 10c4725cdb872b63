import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { listenOnLoopback } from '#kit/testing/loopback';

/** One connection of a client, and the connection to the server that belongs to it. */
type ProxiedConnection = {
  readonly client: Socket;
  readonly database: Socket;
  /** Ends both sides without an answer. */
  end(): void;
};

export type PostgresProxy = AsyncDisposable & {
  /** The URL of the database through the proxy. */
  readonly url: string;
};

/**
 * A proxy between clients and PostgreSQL. When one side of a connection ends, the other side is ended.
 * @param databaseUrl a URL without TLS, so that messages can be read
 * @param carry is called once for each connection, and forwards the bytes of both sides
 */
export async function startPostgresProxy(
  databaseUrl: string,
  carry: (connection: ProxiedConnection) => void,
): Promise<PostgresProxy> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname);
    const end = (): void => {
      for (const socket of [client, database]) {
        socket.destroy();
        open.delete(socket);
      }
    };
    for (const socket of [client, database]) {
      open.add(socket);
      socket.on('error', end).on('close', end);
    }
    carry({ client, database, end });
  });
  const { host } = new URL(await listenOnLoopback(server));
  return {
    url: Object.assign(new URL(databaseUrl), { host }).href,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
