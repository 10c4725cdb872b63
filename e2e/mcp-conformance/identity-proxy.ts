import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

type IdentityProxy = AsyncDisposable & { readonly origin: string };

/** Forwards requests and adds the headers of a caller, which a generic test client cannot send. */
export async function openIdentityProxy(
  target: string,
  headers: Readonly<Record<string, string>>,
): Promise<IdentityProxy> {
  const server = createServer((incoming, answer) => {
    const { method, url, headers: sent } = incoming;
    const onward = request(new URL(url ?? '/', target), { method, headers: { ...sent, ...headers } }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(answer);
    });
    onward.once('error', () => answer.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
