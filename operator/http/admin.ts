import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendBytes, sendJson } from '#kit/http/json-answer';
import { type Listening, listen } from '#kit/http/listen';
import type { Metrics } from '#kit/metrics/metrics';

type AdminOptions = {
  readonly listen: { readonly host: string; readonly port: number };
  readonly metrics: Metrics;
  /** Updates gauges before a scrape. */
  readonly refresh: () => void;
  readonly problems: {
    /** The reasons why the operator is not ready; an empty list if it is ready. */
    readonly ready: () => readonly string[];
    /** Faults of the process that only a restart resolves; empty if there are none. */
    readonly alive: () => readonly string[];
  };
};

/** Serves /livez, /readyz and /metrics without authentication; they hold no text of users. */
export function serveAdmin(options: AdminOptions): Promise<Listening> {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    incoming.resume();
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD') {
      return sendJson(outgoing, 405, { status: 'method not allowed' }, { allow: 'GET, HEAD' });
    }
    switch (URL.parse(incoming.url ?? '/', 'http://admin')?.pathname) {
      case '/livez':
        return say(outgoing, 'alive', options.problems.alive());
      case '/readyz':
        return say(outgoing, 'ready', options.problems.ready());
      case '/metrics': {
        options.refresh();
        const text = await options.metrics.exposition();
        return sendBytes(outgoing, 200, options.metrics.contentType, Buffer.from(text));
      }
      default:
        return sendJson(outgoing, 404, { status: 'not found' });
    }
  }

  return listen({
    ...options.listen,
    handler: answer,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 60_000,
    maxHeaderBytes: 16_384,
  });
}

function say(outgoing: ServerResponse, status: string, problems: readonly string[]): void {
  if (problems.length === 0) sendJson(outgoing, 200, { status });
  else sendJson(outgoing, 503, { status: `not ${status}`, problems });
}
