import type { IncomingMessage } from 'node:http';

/** The client closed the connection before it was answered: the work for its request is aborted. */
export class ClientGoneError extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGoneError';
  }
}

/** A signal that aborts with ClientGoneError when the connection closes. Dispose it with the request: a connection serves many. */
export function watchClient({ socket }: IncomingMessage): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  const onClose = (): void => gone.abort(new ClientGoneError());
  if (socket.destroyed) onClose();
  else socket.once('close', onClose);
  return { signal: gone.signal, [Symbol.dispose]: () => void socket.off('close', onClose) };
}
