import type { IncomingMessage, ServerResponse } from 'node:http';
import { createDeadlines } from '../concurrency/deadlines.ts';
import { awaitsContinue, sendContinue } from './expect-continue.ts';
import { headerValues } from './raw-headers.ts';

/**
 * `aborted`: the time was over or the signal ended the wait. `closed`: the client went away, or the body was read before.
 * `refused`: the caller would not hold more.
 */
export type BodyFault = 'too_large' | 'aborted' | 'closed' | 'refused';
export type Body = { readonly ok: true; readonly bytes: Buffer } | { readonly ok: false; readonly fault: BodyFault };

/** As much of a refused body is read away, so that the client can read the answer on a sound connection. */
const DRAIN_BYTES = 64 * 1024;

/** How long a refused client may take to send that much. */
const LINGER_MS = 1000;

/** The Content-Length of a request in bytes; undefined where it declares none. Node has refused a malformed one. */
export function declaredLength(rawHeaders: readonly string[]): number | undefined {
  const [value] = headerValues(rawHeaders, 'content-length');
  return value === undefined ? undefined : Number(value);
}

/**
 * What bounds a body: its bytes, and either a signal or the milliseconds that it may take from now on. `hold` is asked
 * before each piece is kept, with its bytes.
 */
export type BodyBounds = { readonly limit: number; readonly hold?: (bytes: number) => boolean } & (
  | { readonly signal: AbortSignal }
  | { readonly ms: number }
);

const deadlines = createDeadlines();

/**
 * Reads a request's body. A client that waits for `100 Continue` gets it now.
 * Never holds more than the limit and one chunk. After a fault nothing more is read: answer, and call `drainRefused`.
 */
export function readBody(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  const declared = declaredLength(incoming.rawHeaders);
  if (declared !== undefined && declared > bounds.limit) return Promise.resolve({ ok: false, fault: 'too_large' });
  const over = 'ms' in bounds ? bounds.ms <= 0 : bounds.signal.aborted;
  if (over) return Promise.resolve({ ok: false, fault: 'aborted' });
  if (incoming.readableEnded || incoming.destroyed) return Promise.resolve({ ok: false, fault: 'closed' });
  sendContinue(incoming);
  return collect(incoming, bounds);
}

function collect(incoming: IncomingMessage, bounds: BodyBounds): Promise<Body> {
  return new Promise((resolve) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;

    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size > bounds.limit) finish({ ok: false, fault: 'too_large' });
      else if (bounds.hold?.(chunk.length) === false) finish({ ok: false, fault: 'refused' });
      else if (first === undefined) first = chunk;
      else if (more === undefined) more = [first, chunk];
      else more.push(chunk);
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
      stopWatching();
      incoming.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      if (!body.ok) incoming.pause();
      resolve(body);
    }

    const stopWatching = watchOver(bounds, onOver);
    incoming.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Calls back when the time for a body is over; what it returns ends the watch. */
function watchOver(bounds: BodyBounds, onOver: () => void): () => void {
  if ('ms' in bounds) {
    const due = deadlines.start(bounds.ms, onOver);
    return () => deadlines.cancel(due);
  }
  const { signal } = bounds;
  signal.addEventListener('abort', onOver, { once: true });
  return () => signal.removeEventListener('abort', onOver);
}

/**
 * Call it when a request is refused before its body was read, if possible before the answer's headers are out.
 * A rest that is declared and at most 64 KiB is read away and the connection lives on. Of any other body 64 KiB are
 * read away, the answer says `connection: close`, and the connection is cut once the answer is out and the client had
 * a second to read it. A client that waits for `100 Continue` is not told to go on.
 */
export function drainRefused(incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (incoming.readableEnded || incoming.destroyed) return;
  const declared = declaredLength(incoming.rawHeaders) ?? undeclaredLength(incoming.rawHeaders);
  const { socket } = incoming;
  if ((awaitsContinue(incoming) || declared > DRAIN_BYTES) && !outgoing.headersSent) outgoing.shouldKeepAlive = false;
  let size = 0;

  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size > DRAIN_BYTES) giveUp();
  }
  function onOver(): void {
    clearTimeout(timer);
    incoming.off('data', onData).off('end', onOver).off('close', onOver);
  }
  function giveUp(): void {
    onOver();
    incoming.pause();
    if (outgoing.writableFinished) socket.destroySoon();
    else outgoing.once('finish', () => socket.destroySoon());
  }

  const timer = setTimeout(giveUp, LINGER_MS);
  timer.unref();
  incoming.on('data', onData).on('end', onOver).on('close', onOver);
  incoming.resume();
}

/** A body without Content-Length is chunked and of any length; without chunks there is none (RFC 9112 §6.3). */
function undeclaredLength(rawHeaders: readonly string[]): number {
  return headerValues(rawHeaders, 'transfer-encoding').length > 0 ? Number.POSITIVE_INFINITY : 0;
}
