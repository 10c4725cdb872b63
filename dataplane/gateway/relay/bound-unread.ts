import { once } from 'node:events';
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
  const { socket, writableLength, destroyed } = outgoing;
  if (destroyed || writableLength === 0) return;
  // The answer to a request that was sent before the previous one on this connection was answered: its turn comes
  // later.
  if (socket === null) return void outgoing.once('socket', () => boundUnread(outgoing, ms));
  outgoing.setTimeout(ms, () => outgoing.destroy());
  pauseReading(outgoing, socket);
  // Before Node begins the next answer of the connection, for which the time would stay and which may pause it again.
  outgoing.prependOnceListener('finish', () => {
    socket.setTimeout(0);
    paused.delete(socket);
    setImmediate(() => {
      if (!paused.has(socket)) socket.resume();
    });
  });
}

/**
 * Waits until a client has read what was written of an answer that has not ended, and closes its connection in the same way. Rejects with
 * the reason of the signal, which the end of the connection has to abort.
 * @param ms how long the client may read nothing, milliseconds
 */
export async function untilRead(outgoing: ServerResponse, ms: number, signal: AbortSignal): Promise<void> {
  const { socket } = outgoing;
  const close = (): void => void outgoing.destroy();
  const onSocket = (given: Socket): void => pauseReading(outgoing, given);
  outgoing.setTimeout(ms, close);
  if (socket === null) outgoing.once('socket', onSocket);
  else onSocket(socket);
  try {
    await once(outgoing, 'drain', { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    outgoing.off('socket', onSocket).off('timeout', close);
    continueReading(outgoing);
  }
}

function pauseReading({ req }: ServerResponse, socket: Socket): void {
  // The rest of a body that arrives is read: its client may read the answer only after it.
  if (!req.complete) return;
  paused.add(socket);
  socket.pause();
}

function continueReading({ socket }: ServerResponse): void {
  if (socket === null) return;
  socket.setTimeout(0);
  if (paused.delete(socket)) socket.resume();
}
