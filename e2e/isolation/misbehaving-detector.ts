import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The behaviour of a detector once the headers of a call have arrived. */
export type Misbehaviour =
  | 'allow'
  | 'silence'
  | 'reset'
  | 'reset at once'
  | 'close'
  | 'dribble'
  | 'half an answer'
  | 'endless body'
  | 'endless chunks'
  | 'endless headers'
  | 'no http';

export type MisbehavingDetector = AsyncDisposable & {
  readonly url: string;
  /** Open connections. */
  readonly connections: () => number;
  /** Sets the behaviour for all following connections and requests. */
  readonly behave: (misbehaviour: Misbehaviour) => void;
};

const dribbleMs = 20;
const allow = '{"decision":"allow"}';
const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** A detector on raw sockets, so that it can violate HTTP. */
export async function startMisbehavingDetector(): Promise<MisbehavingDetector> {
  const sockets = new Set<Socket>();
  let misbehaviour: Misbehaviour = 'allow';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    if (misbehaviour === 'reset at once') return void socket.resetAndDestroy();
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
      for (let end = endOfQuestion(received); end > 0; end = endOfQuestion(received)) {
        received = received.slice(end);
        act(socket, misbehaviour);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => sockets.size,
    behave: (next) => {
      misbehaviour = next;
      if (next === 'reset at once') for (const socket of sockets) socket.resetAndDestroy();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Position of the end of the first complete request; 0 while it is incomplete. */
function endOfQuestion(received: string): number {
  const end = received.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0);
  return end >= 0 && received.length >= end + 4 + length ? end + 4 + length : 0;
}

function act(socket: Socket, misbehaviour: Misbehaviour): void {
  switch (misbehaviour) {
    case 'allow':
      socket.write(`${head}content-length: ${allow.length}\r\n\r\n${allow}`);
      return;
    case 'silence':
    case 'reset at once':
      return;
    case 'reset':
      socket.resetAndDestroy();
      return;
    case 'close':
      socket.end();
      return;
    case 'dribble':
      repeat(socket, `${head}content-length: 100000\r\n\r\n`, ' ', dribbleMs);
      return;
    case 'half an answer':
      socket.write(`${head}content-length: 100\r\n\r\n${allow}`);
      return;
    case 'endless body':
      repeat(socket, `${head}content-length: 999999999999\r\n\r\n`, ' '.repeat(16_384), 0);
      return;
    case 'endless chunks':
      repeat(socket, `${head}transfer-encoding: chunked\r\n\r\n`, `2000\r\n${' '.repeat(0x2000)}\r\n`, 0);
      return;
    case 'endless headers':
      repeat(socket, head, `x: ${'y'.repeat(4_000)}\r\n`, 0);
      return;
    case 'no http':
      socket.write('this is not HTTP\r\n\r\n');
  }
}

/** Writes the piece repeatedly until the peer closes; without a pause, as fast as the peer reads. */
function repeat(socket: Socket, first: string, piece: string, everyMs: number): void {
  socket.write(first);
  if (everyMs > 0) {
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
    return;
  }
  const pump = (): void => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', pump);
  pump();
}
