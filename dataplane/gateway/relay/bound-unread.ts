import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections from which nothing is read until an answer is sent. */
const paused = new WeakSet<Socket>();

/**
 * Closes the connection of a client that stops reading an answer that has ended, so that unread answers do not fill the
 * memory. Reading from the client pauses until the answer is read, because each read resets the timeout.
 * @param ms how long the client may read nothing, milliseconds
 */
export function boundUnread(outgoing: ServerResponse, ms: number): void {
  const { socket, req, writableLength, destroyed } = outgoing;
  if (destroyed || writableLength === 0) return;
  // The answer to a request that was sent before the one of this connection was answered: its turn comes later.
  if (socket === null) return void outgoing.once('socket', () => boundUnread(outgoing, ms));
  outgoing.setTimeout(ms, () => outgoing.destroy());
  // The rest of a body that arrives is read: its client may read the answer only after it.
  if (req.complete) {
    paused.add(socket);
    socket.pause();
  }
  // Before Node begins the next answer of the connection, for which the time would stay and which may pause it again.
  outgoing.prependOnceListener('finish', () => {
    socket.setTimeout(0);
    paused.delete(socket);
    setImmediate(() => {
      if (!paused.has(socket)) socket.resume();
    });
  });
}
