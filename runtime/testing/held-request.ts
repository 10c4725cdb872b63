import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A request that is sent in parts over its own connection. */
export type HeldRequest = Disposable & {
  readonly send: (bytes: string | Buffer) => void;
  /** Returns all bytes that the server has sent up to now. */
  readonly received: () => string;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<unknown>;
  readonly socket: Socket;
};

export async function holdRequest(url: string, first: string): Promise<HeldRequest> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const closed = once(socket, 'close');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(first);
  return {
    send: (bytes) => void socket.write(bytes),
    received: () => received,
    closed,
    socket,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
