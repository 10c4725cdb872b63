import { listen } from '#kit/http/listen';
import { systemClock } from '#kit/time/clock';
import type { EchoConfig } from './config.ts';
import { createApp } from './http/app.ts';

export type EchoService = AsyncDisposable & { readonly url: string };

/** Grace period for requests in flight after the shutdown began, milliseconds. */
const graceMs = 3_000;
/**
 * How long the server still answers requests on idle connections after the start of the shutdown, with `connection:
 * close`, milliseconds.
 */
const idleMs = 2_000;

/** The built-in offline provider: an OpenAI-compatible server that answers with the text of the request. */
export async function createEchoService(config: EchoConfig): Promise<EchoService> {
  const app = createApp(config.chunkDelayMs, () => Math.floor(systemClock.date().getTime() / 1_000));
  const listening = await listen({
    host: config.host,
    port: config.port,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 16_384,
    fetch: (request, env) => app.fetch(request, env),
    // A handler can fail only if a client disconnects while it receives its answer.
    onHandlerError: () => undefined,
  });
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await listening.drain({ graceMs, idleMs });
      await listening[Symbol.asyncDispose]();
    },
  };
}
