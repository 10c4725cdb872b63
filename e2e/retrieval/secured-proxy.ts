import { type createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { KeyPair } from '../../hack/cluster/certificates/authority.ts';

export type SecuredProxy = AsyncDisposable & {
  readonly url: URL;
  /** Replaces the password that is accepted. */
  accept(password: string): void;
};

/**
 * A proxy with TLS and a password for a server that has neither: it refuses requests without the user and the password,
 * like the security plugin of OpenSearch, and forwards all others.
 */
export async function startSecuredProxy(
  target: URL,
  { pair, user, password }: { readonly pair: KeyPair; readonly user: string; readonly password: string },
): Promise<SecuredProxy> {
  const headerOf = (secret: string): string => `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`;
  let accepted = headerOf(password);
  const forward: Parameters<typeof createServer>[1] = (incoming, outgoing) => {
    const { method, url, headers } = incoming;
    if (headers.authorization !== accepted) {
      incoming.resume();
      outgoing.writeHead(401, {
        'www-authenticate': 'Basic realm="OpenSearch Security"',
        'content-type': 'text/plain',
      });
      outgoing.end('Unauthorized');
      return;
    }
    const { authorization: _password, ...rest } = headers;
    const passed = request(new URL(url ?? '/', target), { method, headers: rest }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  };
  const server = createTlsServer({ cert: pair.certificate, key: pair.key }, forward);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`),
    accept(next) {
      accepted = headerOf(next);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
