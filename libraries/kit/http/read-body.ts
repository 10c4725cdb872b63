import type { IncomingMessage, ServerResponse } from 'node:http';
import { createDeadlines } from '../concurrency/deadlines.ts';
import { awaitsContinue, sendContinue } from './expect-continue.ts';
import { headerValues } from './raw-headers.ts';

/**
 * `aborted`: timeout or aborted signal. `closed`: the client disconnected, or the body was read before. `refused`: `hold`
 * returned false.
 */
type BodyFault = 'too_large' | 'aborted' | 'closed' | 'refused';
export type Body = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly fault: BodyFault };

/**
 * Maximum number of bytes of a refused body that are discarded, so that the client can read the response before the
 * connection closes.
 */
const DRAIN_BYTES = 64 * 1024;

/** Time in which a refused client may send the bytes that are still read. */
const LINGER_MS = 1000;

/**
 * The Content-Length of a request in bytes; undefined if the request has none. Node has already refused an invalid
 * length.
 */
export function declaredLength(rawHeaders: readonly string[]): number | undefined {
  const [value] = headerValues(rawHeaders, 'content-length');
  return value === undefined ? undefined : Number(value);
}

/**
 * Limits of a body: its bytes, and a signal, a timeout in milliseconds from now, or both. `hold` is called with the
 * size of each chunk before the chunk is kept; if it returns false, the body is refused. Until it decides, no more
 * bytes are read.
 */
type BodyBounds = { readonly limit: number; readonly hold?: (bytes: number) => boolean | Promise<boolean> } & (
  | { readonly signal: AbortSignal; readonly ms?: number }
  | { readonly ms: number }
);

const deadlines = createDeadlines();

/**
 * Reads the body of a request; sends `100 Continue` if the client waits for it. Buffers at most the limit and one
 * chunk. After a fault no more bytes are read: the caller answers and calls `drainRefused`.
 */
export function readBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  const declared = declaredLength(incoming.rawHeaders);
  if (declared !== undefined && declared > bounds.limit) return Promise.resolve({ ok: false, fault: 'too_large' });
  const isAborted = 'signal' in bounds && bounds.signal.aborted;
  if (isAborted || (bounds.ms !== undefined && bounds.ms <= 0)) return Promise.resolve({ ok: false, fault: 'aborted' });
  if (incoming.readableEnded || incoming.destroyed) return Promise.resolve({ ok: false, fault: 'closed' });
  sendContinue(incoming);
  return collect(incoming, bounds);
}

function collect(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  return new Promise((resolve) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    let isFinished = false;

    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size > bounds.limit) finish({ ok: false, fault: 'too_large' });
      else {
        const held = bounds.hold?.(chunk.length) ?? true;
        if (held === true) keep(chunk);
        else if (held === false) finish({ ok: false, fault: 'refused' });
        else wait(held, chunk);
      }
    }
    function keep(chunk: Buffer): void {
      if (first === undefined) first = chunk;
      else if (more === undefined) more = [first, chunk];
      else more.push(chunk);
    }
    function wait(held: Promise<boolean>, chunk: Buffer): void {
      incoming.pause();
      void held.then((isHeld) => {
        if (isFinished) return;
        if (!isHeld) {
          finish({ ok: false, fault: 'refused' });
          return;
        }
        keep(chunk);
        incoming.resume();
      });
    }
    function onEnd(): void {
      finish({ ok: true, bytes: more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, size) });
    }
    function onClose(): void {
      finish({ ok: false, fault: 'closed' });
    }
    function onOver(): void {
      finish({ ok: false, fault: 'aborted' });
    }
    function finish(body: Body): void {
      isFinished = true;
      stopWatching();
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (!body.ok) incoming.pause();
      resolve(body);
    }

    const stopWatching = watchOver(bounds, onOver);
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Calls `onOver` at the timeout or abort; returns a function that cancels it. */
function watchOver(bounds: BodyBounds, onOver: () => void): () => void {
  const due = bounds.ms === undefined ? undefined : deadlines.start(bounds.ms, onOver);
  const signal = 'signal' in bounds ? bounds.signal : undefined;
  signal?.addEventListener('abort', onOver, { once: true });
  return () => {
    if (due !== undefined) deadlines.cancel(due);
    signal?.removeEventListener('abort', onOver);
  };
}

/**
 * Call this when a request is refused before its body was read, if possible before the response headers are sent. A
 * declared rest of at most 64 KiB is discarded and the connection stays open. For any other body 64 KiB are discarded,
 * the response has `connection: close`, and the connection is closed a second after the response. A client that waits
 * for `100 Continue` does not receive it.
 */
export function drainRefused(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  const declared = declaredLength(incoming.rawHeaders) ?? undeclaredLength(incoming.rawHeaders);
  const { socket } = incoming;
  if ((awaitsContinue(incoming) || declared > DRAIN_BYTES) && !outgoing.headersSent) outgoing.shouldKeepAlive = false;
  let size = 0;

  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size > DRAIN_BYTES) closeAfterResponse();
  }
  function onOver(): void {
    clearTimeout(timer);
    incoming.off('data', onData).off('end', onOver).off('close', onOver);
  }
  function closeAfterResponse(): void {
    onOver();
    incoming.pause();
    if (outgoing.writableFinished) socket.destroySoon();
    else outgoing.once('finish', () => socket.destroySoon());
  }

  const timer = setTimeout(closeAfterResponse, LINGER_MS);
  timer.unref();
  incoming.on('data', onData).on('end', onOver).on('close', onOver);
  incoming.resume();
}

/** Without Content-Length, a chunked body has any length, and any other request has no body (RFC 9112 §6.3). */
function undeclaredLength(rawHeaders: readonly string[]): number {
  return headerValues(rawHeaders, 'transfer-encoding').length > 0 ? Number.POSITIVE_INFINITY : 0;
}
