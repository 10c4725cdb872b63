import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const loopback = '127.0.0.1';

/** Whether a port is free now; port 0 always counts as free. */
export async function isPortFree(port: number, host = loopback): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch (error) {
    // The program that will listen there reports an address that this machine does not have with a better message than
    // this probe.
    return error instanceof Error && 'code' in error && error.code === 'EADDRNOTAVAIL';
  } finally {
    server.close();
  }
}

/**
 * A free port below the ephemeral range, so that it is probably free at the next start, too.
 * @param taken ports of processes that may not listen yet
 */
export async function findLastingPort(taken: readonly number[] = []): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(20_000, 30_000);
    if (!taken.includes(port) && (await isPortFree(port))) return port;
  }
  throw new Error('none of 100 random ports is free');
}

/** Waits at most `ms` until a port is free. */
export async function waitForPort(port: number, ms: number, host = loopback): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await isPortFree(port, host))) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}
