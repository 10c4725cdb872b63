import type { IncomingMessage, ServerResponse } from 'node:http';

/** Requests whose client waits for `100 Continue` (RFC 9110 §10.1.1) before it sends the body. */
const held = new WeakMap<IncomingMessage, ServerResponse>();

/** Notes that the client of this request waits. */
export function holdContinue(incoming: IncomingMessage, outgoing: ServerResponse): void {
  held.set(incoming, outgoing);
}

/** Tells the client to send the body, once. Does nothing where it does not wait or has its answer. */
export function sendContinue(incoming: IncomingMessage): void {
  const outgoing = held.get(incoming);
  if (outgoing === undefined) return;
  held.delete(incoming);
  if (!outgoing.headersSent && !outgoing.destroyed) outgoing.writeContinue();
}

/** Whether the client still waits, so that nobody knows if the body will come. */
export function awaitsContinue(incoming: IncomingMessage): boolean {
  return held.has(incoming);
}
