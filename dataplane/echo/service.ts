import type { IncomingMessage, ServerResponse } from 'node:http';
import { v7 as uuid } from 'uuid';
import { listen } from '#kit/http/listen';
import { type Clock, systemClock } from '#kit/time/clock';
import type { EchoConfig } from './config.ts';
import { chatCompletions } from './http/chat-completions.ts';
import { embeddings } from './http/embeddings.ts';
import { sendFault } from './http/error-answer.ts';
import { models } from './http/models.ts';
import { routeOf } from './http/route.ts';

export type EchoService = AsyncDisposable & { readonly url: string };

/** Grace period for requests in flight after the shutdown began, milliseconds. */
const graceMs = 3_000;
/** How long requests on idle connections are still answered then, with `connection: close`. */
const idleMs = 2_000;

/** The built-in offline provider: an OpenAI-compatible server that answers with the text of the request. */
export async function createEchoService(
  config: EchoConfig,
  overrides?: { readonly clock?: Clock },
): Promise<EchoService> {
  const clock = overrides?.clock ?? systemClock;
  const seconds = () => Math.floor(clock.date().getTime() / 1_000);
  const started = seconds();
  const head = (model: string) => ({ id: `chatcmpl-${uuid()}`, created: seconds(), model });

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
    const route = routeOf(incoming.method, incoming.url);
    switch (route) {
      case '/v1/chat/completions':
        return chatCompletions(incoming, outgoing, head, config.chunkDelayMs, signal);
      case '/v1/embeddings':
        return embeddings(incoming, outgoing, signal);
      case '/v1/models':
        return models(outgoing, started);
      case 'not_found':
      case 'method_not_allowed':
        return sendFault(outgoing, route);
    }
  }

  const listening = await listen({
    host: config.host,
    port: config.port,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 16_384,
    handler: (incoming, outgoing) => {
      const gone = new AbortController();
      outgoing.once('close', () => gone.abort());
      // The only error here is a client that disconnected during its answer.
      answer(incoming, outgoing, gone.signal).catch(() => outgoing.destroy());
    },
  });
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      await listening.drain({ graceMs, idleMs });
      await listening[Symbol.asyncDispose]();
    },
  };
}
