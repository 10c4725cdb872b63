import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';

type GatewayProxy = AsyncDisposable & {
  /** Public address of a version at this proxy. */
  readonly publicUrl: string;
  /** Sets how requests reach the version. */
  connect(send: typeof fetch): void;
};

/**
 * A server that stands for the agent gateway, for clients in other processes: it forwards every request with an
 * identity of its own.
 */
export async function openGatewayProxy(): Promise<GatewayProxy> {
  let send: typeof fetch = fetch;
  const path = '/agents/question/versions/3';
  const server = createServer(async (incoming, answer) => {
    const gone = new AbortController();
    answer.once('close', () => gone.abort());
    const { method = 'GET', headers: given, url = '/' } = incoming;
    const body = await buffer(incoming);
    if (!url.startsWith(`${path}/`)) {
      answer.writeHead(404).end();
      return;
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...rest } = given;
    try {
      const received = await send(`${origin}${url}`, {
        method,
        headers: rest as Record<string, string>,
        signal: gone.signal,
        ...(body.length === 0 ? {} : { body }),
      });
      answer.writeHead(received.status, Object.fromEntries(received.headers));
      if (received.body === null) answer.end();
      else Readable.fromWeb(received.body as ReadableStream).pipe(answer);
    } catch {
      answer.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    publicUrl: `${origin}${path}`,
    connect(next) {
      send = next;
    },
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
