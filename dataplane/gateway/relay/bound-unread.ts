import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections from which nothing is read until an answer is sent. */
const paused = new WeakSet<Socket>();

/**
 * Closes the connection of a client that stops reading a complete answer, so that unread answers do not fill the
 * memory. Nothing is read from the client until it has read the answer, because each read would reset the timeout.
 * @param ms how long the client may read nothing, milliseconds
 */
export function boundUnread(outgoing: ServerResponse, ms: number): void {
  const { socket, writableLength, destroyed } = outgoing;
  if (destroyed || writableLength === 0) return;
  // This request was sent before the previous answer on its connection was complete: its own answer is sent later.
  if (socket === null) return void outgoing.once('socket', () => boundUnread(outgoing, ms));
  outgoing.setTimeout(ms, () => outgoing.destroy());
  pauseReading(outgoing, socket);
  // The time limit is removed before Node begins the next answer of the connection, to which it would also apply and
  // which may pause the connection again.
  outgoing.prependOnceListener('finish', () => {
    socket.setTimeout(0);
    paused.delete(socket);
    setImmediate(() => {
      if (!paused.has(socket)) socket.resume();
    });
  });
}

/**
 * Waits until a client has read the written part of an answer that is not complete, and closes the connection of a
 * client that stops reading. Rejects with the reason of the signal, which the caller aborts when the connection ends.
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
  // The rest of an arriving body is read, because its client may read the answer only after sending it.
  if (!req.complete) return;
  paused.add(socket);
  socket.pause();
}

function continueReading({ socket }: ServerResponse): void {
  if (socket === null) return;
  socket.setTimeout(0);
  if (paused.delete(socket)) socket.resume();
}
