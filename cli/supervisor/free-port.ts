import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

const loopback = '127.0.0.1';

/** Whether a port of the loopback address can be listened on now; port 0 always can. */
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

/** A free port below those that systems give to outgoing connections, so that it is free at the next start too. */
export async function findLastingPort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(20_000, 30_000);
    if (await isPortFree(port)) return port;
  }
  throw new Error('none of a hundred ports was free');
}

/** Waits until the port is free, at most `ms`; false when it is not. */
export async function waitForPort(port: number, ms: number): Promise<boolean> {
  const end = performance.now() + ms;
  while (!(await isPortFree(port))) {
    if (performance.now() > end) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}
