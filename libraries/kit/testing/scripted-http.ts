import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { closeServer, listenOnLoopback } from './loopback.ts';

/** A request that the server received, with its body as received. */
export type SeenRequest = {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

/** Answers one request, or does anything else with its connection; if the promise rejects, the connection is closed. */
export type Script = (response: ServerResponse, request: SeenRequest) => unknown;

/** An HTTP server on loopback that records its requests and follows a script. */
export type ScriptedHttp = AsyncDisposable & {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Sets the script for all following requests. */
  play(script: Script): void;
  /** Empties `seen`. */
  forget(): void;
};

export async function startScriptedHttp(first: Script, port = 0): Promise<ScriptedHttp> {
  const seen: SeenRequest[] = [];
  let script = first;
  const server = createServer((incoming, response) => {
    readText(incoming)
      .then((text) => {
        const { method = '', url: path = '/', headers } = incoming;
        const request = { method, path, headers, text };
        seen.push(request);
        return script(response, request);
      })
      .catch(() => response.destroy());
  });
  return {
    url: await listenOnLoopback(server, port),
    seen,
    play(next) {
      script = next;
    },
    forget() {
      seen.length = 0;
    },
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

/** Answers with this body: a text unchanged, anything else as JSON. */
export function answers(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Script {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

/** Sends each part separately, and then ends, resets or closes the connection, or leaves it open. */
export function streams(
  parts: readonly (string | Buffer)[],
  ending: 'end' | 'reset' | 'close' | 'silence' = 'silence',
  { contentType = 'application/json', delayMs = 0 } = {},
): Script {
  return async (response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.flushHeaders();
    for (const part of parts) {
      if (response.destroyed) return;
      // The part is flushed to the socket before the next step, so that breaking the connection loses no earlier part.
      await new Promise((resolve) => response.write(part, resolve));
      await (delayMs > 0 ? pause(delayMs) : new Promise((resolve) => setImmediate(resolve)));
    }
    if (ending === 'end') response.end();
    if (ending === 'reset') reset(response);
    if (ending === 'close') close(response);
  };
}

/** Resets the connection, before any byte of an answer or amid it. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** Closes the connection likewise. */
export function close(response: ServerResponse): void {
  response.destroy();
}

/** Leaves the request unanswered and keeps the connection open. */
export function silence(): void {}
