import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type Timings, timingsOf } from './timings.ts';

type Others = AsyncDisposable & {
  /** Times of the requests that were sent while `run` was running. */
  during(run: () => Promise<unknown>): Promise<Timings>;
};

/** A small HTTP server in this thread, and another thread that sends requests to it. */
export async function startOthers(): Promise<Others> {
  const server = createServer((_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const worker = new Worker(new URL('probe.ts', import.meta.url), { workerData: { url } });
  const take = async (): Promise<readonly number[]> => {
    worker.postMessage('take');
    const [times] = await once(worker, 'message');
    return times as readonly number[];
  };
  return {
    async during(run) {
      await take();
      await run();
      return timingsOf(await take());
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}
