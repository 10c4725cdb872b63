import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { bindServer } from '#kit/http/listen-error';

export type Relay = {
  /** Origin for browsers. */
  readonly url: string;
  /** Starts the process unless it runs. @throws the reason for which it cannot start */
  start(): Promise<void>;
  /**
   * Accepts no more connections, and ends the connections that wait for the process; the process itself ends the
   * others.
   */
  close(): void;
};

const loopback = '127.0.0.1';

const refusal = (text: string): string =>
  `HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`;

/**
 * Listens on a loopback port, starts a process at the first connection, and relays each connection to it. If the process
 * cannot start or does not listen, the connection is answered with 503, and the next connection tries again.
 * @param start resolves with the loopback port of the process once it serves
 * @throws ListenError
 */
export async function relayOnDemand(port: number, start: () => Promise<number>, unavailable: string): Promise<Relay> {
  const waiting = new Set<Socket>();
  let starting: Promise<number> | undefined;

  function started(): Promise<number> {
    starting ??= start().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  }

  function accept(client: Socket): void {
    waiting.add(client);
    const forget = (): boolean => waiting.delete(client);
    client.once('close', forget);
    // A client that disconnects while the process starts.
    client.on('error', forget);
    started().then(
      (to) => {
        if (forget()) relay(client, to, unavailable);
      },
      () => {
        if (forget()) refuse(client, unavailable);
      },
    );
  }

  const server: Server = createServer({ pauseOnConnect: true, noDelay: true }, accept);
  const { url } = await bindServer(server, loopback, port);
  return {
    url,
    async start() {
      await started();
    },
    close() {
      server.close();
      for (const client of waiting) client.destroy();
    },
  };
}

/** The client is read from, so that its end is noticed and the connection closes. */
function refuse(client: Socket, text: string): void {
  client.resume();
  client.end(refusal(text));
}

function relay(client: Socket, port: number, unavailable: string): void {
  const process = connect({ host: loopback, port, noDelay: true });
  const leave = (): void => {
    process.destroy();
  };
  client.once('close', leave);
  // A process that is restarting listens nowhere.
  const away = (): void => refuse(client, unavailable);
  process.once('error', away);
  process.once('connect', () => {
    client.off('close', leave);
    process.off('error', away);
    pipeline(client, process, () => undefined);
    pipeline(process, client, () => undefined);
  });
}
