import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const loopback = '127.0.0.1';

/** Whether a loopback port is free now; port 0 always is. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: loopback, port, exclusive: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** A free port below the ephemeral range, so that it is probably free at the next start, too. */
export async function findLastingPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(20_000, 30_000);
    if (await isPortFree(port)) return port;
  }
  throw new Error('none of 100 random ports is free');
}

/** Waits at most `ms` until a port is free. */
export async function waitForPort(port: number, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await isPortFree(port))) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}
