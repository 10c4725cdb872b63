import { unusedPort } from '#kit/testing/loopback';
import { findServerProgram, type SpawnedServer, startServerProgram } from '../support/server-program.ts';

const program = findServerProgram('openfga', 'openfga');

/** The reason why no OpenFGA server is available; undefined if there is one. */
export const missingOpenFga = program.missing;

/** The title of a suite that needs OpenFGA, with the reason if it is skipped. */
export const onOpenFga = program.on;

/** An OpenFGA server whose data is in memory and lost when the server ends. */
export type OpenFgaServer = SpawnedServer & { readonly url: URL };

/** A real OpenFGA server that keeps everything in memory, on loopback. */
export async function startOpenFga(options: { readonly token?: string } = {}): Promise<OpenFgaServer> {
  const port = await unusedPort();
  const url = new URL(`http://127.0.0.1:${port}`);
  const server = await startServerProgram({
    program,
    args: [
      'run',
      '--datastore-engine=memory',
      `--http-addr=127.0.0.1:${port}`,
      `--grpc-addr=127.0.0.1:${await unusedPort()}`,
      '--playground-enabled=false',
      '--metrics-enabled=false',
      '--log-level=error',
      ...(options.token === undefined ? [] : ['--authn-method=preshared', `--authn-preshared-keys=${options.token}`]),
    ],
    serves: async () => (await fetch(new URL('/healthz', url))).ok,
  });
  return { ...server, url };
}
