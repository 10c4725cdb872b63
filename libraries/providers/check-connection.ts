import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type ConnectionFault, connectionFault } from '#kit/http/connection-fault';

/** A step on the way to a server. */
type ConnectionStep = 'dns' | 'tcp' | 'tls';

/** The steps that succeeded, and the step that failed. */
type ConnectionCheck = {
  readonly passed: readonly ConnectionStep[];
  readonly failed?: { readonly step: ConnectionStep; readonly cause: ConnectionFault };
};

/**
 * Resolves the host of an endpoint, connects to it and, for https, completes the TLS handshake. No HTTP request is sent.
 * Never rejects.
 */
export async function checkConnection(endpoint: URL, signal: AbortSignal): Promise<ConnectionCheck> {
  const host = endpoint.hostname.replace(/^\[|\]$/g, '');
  const isTls = endpoint.protocol === 'https:';
  const port = Number(endpoint.port) || (isTls ? 443 : 80);
  const passed: ConnectionStep[] = [];
  let step: ConnectionStep = 'dns';
  let socket: Socket | undefined;
  const onOpen = (opened: Socket): void => {
    socket = opened;
  };
  try {
    if (isIP(host) === 0) await unless(signal, lookup(host));
    passed.push(step);
    step = 'tcp';
    await settled(connectTcp({ host, port }), 'connect', signal, onOpen);
    passed.push(step);
    if (isTls && socket !== undefined) {
      step = 'tls';
      const servername = isIP(host) === 0 ? { servername: host } : {};
      await settled(connectTls({ socket, host, ...servername }), 'secureConnect', signal, onOpen);
      passed.push(step);
    }
    return { passed };
  } catch (error) {
    const fault = signal.aborted ? 'timeout' : connectionFault(error);
    return { passed, failed: { step, cause: fault === 'network' && step === 'tls' ? 'tls' : fault } };
  } finally {
    socket?.destroy();
  }
}

/** Resolves when the socket has emitted the event. */
async function settled(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  onOpen: (socket: Socket) => void,
): Promise<void> {
  onOpen(socket);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once(event, resolve);
  socket.on('error', reject);
  socket.once('close', () => reject(new Error('the connection was closed')));
  await unless(signal, promise);
}

/** Rejects when the signal is aborted first. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}
