import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose client waits for `100 Continue` (RFC 9110 §10.1.1) before it sends the body. */
const held = new WeakMap<IncomingMessage, ServerResponse>();

/** Records that the client of this request waits. */
export function holdContinue(incoming: IncomingMessage, outgoing: ServerResponse): void {
  held.set(incoming, outgoing);
}

/** Sends `100 Continue` once, unless the client does not wait or already has its response. */
export function sendContinue(incoming: IncomingMessage): void {
  const outgoing = held.get(incoming);
  if (outgoing === undefined) return;
  held.delete(incoming);
  if (!outgoing.headersSent && !outgoing.destroyed) outgoing.writeContinue();
}

/** Whether the client still waits for `100 Continue`, so that it may not have sent the body. */
export function awaitsContinue(incoming: IncomingMessage): boolean {
  return held.has(incoming);
}
