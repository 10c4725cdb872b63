import type { Socket } from 'node:net';

/** How long a client may take to read the last answer of a connection before it is cut. */
const LINGER_MS = 1000;

/**
 * Node closes a connection as soon as its last answer is out. Where bytes of the client are unread by then, or come
 * later, the kernel resets the connection and the client may lose the answer: so say that no more will come, and wait
 * for the client to close (RFC 9112 §9.6).
 */
export function lingerOnClose(socket: Socket): void {
  socket.destroySoon = () => {
    if (socket.destroyed || socket.writableEnded) return;
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}
