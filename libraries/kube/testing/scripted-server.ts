import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers one request. */
export type ScriptedAnswer = (outgoing: ServerResponse, incoming: IncomingMessage) => void | Promise<void>;

type SeenRequest = { readonly method: string; readonly path: string; readonly query: URLSearchParams };

/**
 * An HTTP server that answers the n-th list and the n-th watch from a script; after the last answer it does not answer. A
 * list with limit 1, which confirms a version, has its own script; after its end the list is empty.
 */
export type ScriptedServer = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  lists(): readonly SeenRequest[];
  watches(): readonly SeenRequest[];
  confirmations(): readonly SeenRequest[];
  /** Appends answers. */
  script(steps: Partial<Readonly<Record<'lists' | 'watches' | 'confirmations', readonly ScriptedAnswer[]>>>): void;
};

export async function startScriptedServer(port = 0): Promise<ScriptedServer> {
  const seen: SeenRequest[] = [];
  const steps = {
    lists: [] as ScriptedAnswer[],
    watches: [] as ScriptedAnswer[],
    confirmations: [] as ScriptedAnswer[],
  };
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://localhost');
    seen.push({ method: incoming.method ?? '', path: url.pathname, query: url.searchParams });
    const step =
      steps[scriptOf(url.searchParams)].shift() ?? (isConfirmation(url.searchParams) ? emptyList : undefined);
    Promise.resolve(step?.(outgoing, incoming)).catch(() => outgoing.destroy());
  });
  await listenOn(server, port);
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    seen,
    lists: () => seen.filter(({ query }) => scriptOf(query) === 'lists'),
    watches: () => seen.filter(({ query }) => scriptOf(query) === 'watches'),
    confirmations: () => seen.filter(({ query }) => scriptOf(query) === 'confirmations'),
    script(more) {
      steps.lists.push(...(more.lists ?? []));
      steps.watches.push(...(more.watches ?? []));
      steps.confirmations.push(...(more.confirmations ?? []));
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function isConfirmation(query: URLSearchParams): boolean {
  return query.get('limit') === '1';
}

function scriptOf(query: URLSearchParams): 'lists' | 'watches' | 'confirmations' {
  if (query.has('watch')) return 'watches';
  return isConfirmation(query) ? 'confirmations' : 'lists';
}

const emptyList: ScriptedAnswer = (outgoing, incoming) => {
  const resourceVersion = new URL(incoming.url ?? '/', 'http://localhost').searchParams.get('resourceVersion');
  const metadata = { resourceVersion, continue: '' };
  const list = { apiVersion: 'portcullis.dev/v1alpha1', kind: 'GatewayReportList', metadata, items: [] };
  return json(200, list)(outgoing, incoming);
};

async function listenOn(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

/** A response with a JSON body. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): ScriptedAnswer {
  return (outgoing) => {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...headers });
    outgoing.end(JSON.stringify(body));
  };
}

/** A watch that sends each text as a chunk, and then ends, resets the connection or stays open. */
export function stream(chunks: readonly (string | Buffer)[], then: 'end' | 'reset' | 'open' = 'open'): ScriptedAnswer {
  return async (outgoing) => {
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.flushHeaders();
    for (const chunk of chunks) {
      await new Promise<void>((resolve) => outgoing.write(chunk, () => resolve()));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (then === 'end') outgoing.end();
    if (then === 'reset') outgoing.socket?.resetAndDestroy();
  };
}

/** Resets the connection without a response. */
export const reset: ScriptedAnswer = (outgoing) => {
  outgoing.socket?.resetAndDestroy();
};

export const silence: ScriptedAnswer = () => {};
