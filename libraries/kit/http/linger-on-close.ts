import type { Socket } from 'node:net';

/** Time for a client to read the last response before the connection is closed. */
const LINGER_MS = 1000;

/**
 * Node closes a connection right after its last response. If bytes of the client are unread or arrive later, the kernel
 * resets the connection and the client may lose the response. This closes only the sending side and waits for the client
 * to close (RFC 9112 §9.6).
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed || socket.writableEnded) return;
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
