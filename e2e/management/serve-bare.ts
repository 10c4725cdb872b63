import { Hono } from 'hono';
import { listen } from '#kit/http/listen';
import { writeReadyLine } from '#kit/process/ready';
import { runMain } from '#kit/process/run-main';

/** A process that sends an empty response through the same framework. */
runMain({
  name: 'bare',
  async start() {
    const app = new Hono();
    app.get('/', (context) => context.json({ status: 'ok' }));
    const server = await listen({
      host: '127.0.0.1',
      port: 0,
      fetch: app.fetch,
      headersTimeoutMs: 10_000,
      keepAliveTimeoutMs: 65_000,
      maxHeaderBytes: 16_384,
    });
    writeReadyLine({ listening: server.url });
    return server;
  },
});
