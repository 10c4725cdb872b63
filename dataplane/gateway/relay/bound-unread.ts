import type { ServerResponse } from 'node:http';

/**
 * Closes the connection of a client that stops reading an answer that has ended, so that unread answers do not fill the
 * memory. Until the answer is read, nothing more is read from the client: what it sends would begin the time again.
 * @param ms how long the client may read nothing, milliseconds
 */
export function boundUnread(outgoing: ServerResponse, ms: number): void {
  const { socket, req, writableLength, destroyed } = outgoing;
  if (destroyed || socket === null || writableLength === 0) return;
  outgoing.setTimeout(ms, () => outgoing.destroy());
  // The rest of a body that arrives is read: its client may read the answer only after it.
  if (req.complete) socket.pause();
  // Before Node begins the next request of the connection, for which the time would stay.
  outgoing.prependOnceListener('finish', () => {
    socket.setTimeout(0);
    socket.resume();
  });
}
