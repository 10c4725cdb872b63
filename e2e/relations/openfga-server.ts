import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { findLastingPort } from '../../cli/supervisor/free-port.ts';
import { cacheFolder } from '../../hack/cluster/places.ts';
import { until } from '../support/until.ts';

const programs = globSync(join(cacheFolder(), 'programs', 'openfga', '*', 'openfga'));

/** Reason why no OpenFGA server is available; undefined when there is one. Tests do not build it. */
export const missingOpenFga: string | undefined =
  programs.length > 0 ? undefined : "OpenFGA is not built: 'npm run cluster program openfga' builds it";

/** The title of a suite that needs OpenFGA, with the reason if it is skipped. */
export function onOpenFga(title: string): string {
  return missingOpenFga === undefined ? title : `${title} (${missingOpenFga})`;
}

export type OpenFgaServer = AsyncDisposable & {
  readonly url: URL;
  readonly child: ChildProcess;
  /** Kills the server; its data is in memory and lost. */
  end(): Promise<void>;
};

/** A real OpenFGA server that keeps everything in memory, on loopback. */
export async function startOpenFga(options: { readonly token?: string } = {}): Promise<OpenFgaServer> {
  const [program] = programs;
  if (program === undefined) throw new Error(missingOpenFga);
  const port = await findLastingPort();
  const child = spawn(
    program,
    [
      'run',
      '--datastore-engine=memory',
      `--http-addr=127.0.0.1:${port}`,
      `--grpc-addr=127.0.0.1:${await findLastingPort()}`,
      '--playground-enabled=false',
      '--metrics-enabled=false',
      '--log-level=error',
      ...(options.token === undefined ? [] : ['--authn-method=preshared', `--authn-preshared-keys=${options.token}`]),
    ],
    { stdio: 'ignore', env: {} },
  );
  const end = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await exited;
  };
  const url = new URL(`http://127.0.0.1:${port}`);
  try {
    await until('OpenFGA serves', async () => (await fetch(new URL('/healthz', url))).ok);
  } catch (error) {
    await end();
    throw error;
  }
  return { url, child, end, [Symbol.asyncDispose]: end };
}
