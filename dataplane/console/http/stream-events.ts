import { setTimeout as pause } from 'node:timers/promises';
import type { ConsoleContext } from './environment.ts';

/** Longest time without a byte on a stream: common proxies close a response after 60 s without one. */
const keepAliveMs = 15_000;

/** A pause after each event without content: an API that does not answer is not polled in a loop. */
const pauseMs = 1_000;

/** The HTML of one event. If the event has an id, a browser that reconnects sends the id of its last event. */
export type StreamedPart = string | { readonly html: string; readonly id: string };

/**
 * Server-sent events with the HTML that the generator yields. A comment keeps the connection open where the generator yields
 * undefined, which is followed by a pause, an empty text, or, for `keepAliveMs`, nothing. The stream ends with the session, with the process, or when the browser closes it.
 * A stream that answers a form has the event `stream-complete` after its last part: one that ends without it was cut, and no browser requests
 * it again.
 */
export function streamEvents(
  context: ConsoleContext,
  parts: (signal: AbortSignal) => AsyncGenerator<StreamedPart | undefined>,
  stopping: AbortSignal,
): Response {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  // The framework answers HEAD by the handler of GET and drops its body without an end.
  if (context.req.method === 'HEAD') return new Response(null, { headers });
  const isOfForm = context.req.method === 'POST';
  const leftMs = Math.max(0, context.get('session').expiresAt * 1_000 - Date.now());
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, stopping, AbortSignal.timeout(Math.min(leftMs, 2 ** 31 - 1))]);
  const encoder = new TextEncoder();
  const generator = parts(signal);
  const comment = encoder.encode(':\n\n');
  const complete = encoder.encode('event: stream-complete\ndata:\n\n');
  let timer: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(comment);
      }, keepAliveMs).unref();
      signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    async pull(controller) {
      const { done, value } = await generator.next().catch((error: unknown) => {
        clearInterval(timer);
        throw error;
      });
      timer?.refresh();
      if (done === true || signal.aborted) {
        clearInterval(timer);
        if (isOfForm && !signal.aborted) controller.enqueue(complete);
        return controller.close();
      }
      if (value === undefined) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
      controller.enqueue(value === undefined || value === '' ? comment : encoder.encode(eventOf(value)));
    },
    async cancel() {
      clearInterval(timer);
      ended.abort();
      await generator.return(undefined);
    },
  });
  return new Response(body, { headers });
}

function eventOf(part: StreamedPart): string {
  const { html, id } = typeof part === 'string' ? { html: part, id: undefined } : part;
  const lines = html.split(/\r\n|\r|\n/).map((line) => `data: ${line}`);
  return `${[...lines, ...(id === undefined ? [] : [`id: ${id}`])].join('\n')}\n\n`;
}
