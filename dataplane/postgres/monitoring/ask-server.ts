import { connect } from 'node:net';
import type { HostPort } from '#kit/env/setting';

/** SSLRequest of the PostgreSQL protocol (Message Formats): length 8, code 80877103. */
const tlsRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/**
 * Asks PostgreSQL whether it supports TLS: the only question that it answers before authentication, even while it
 * recovers or has no free connection. Resolves for every answer and for a refused connection, because a server that
 * shuts down refuses connections. @throws the reason of the signal
 */
export function askServer({ host, port }: HostPort, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  socket.once('connect', () => socket.write(tlsRequest));
  socket.once('data', () => resolve());
  socket.once('error', () => resolve());
  socket.once('close', () => resolve());
  return promise.finally(() => {
    signal.removeEventListener('abort', giveUp);
    socket.destroy();
  });
}
