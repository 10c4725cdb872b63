import { once } from 'node:events';
import { connect } from 'node:net';

/** An answer as it came over the wire. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
  /** Whether the server ended the connection. */
  readonly closed: boolean;
};

/** One request in parts; every part may be wrong. */
export type RawRequest = {
  readonly requestLine: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
};

export function encode({ requestLine, headers, body }: RawRequest): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${requestLine}\r\n${lines}\r\n`, 'latin1'), body]);
}

function wholeAnswer(bytes: Buffer, closed: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = bytes.subarray(0, end).toString('latin1');
  const body = bytes.subarray(end + 4);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? Number.NaN);
  const complete = Number.isNaN(length) ? closed : body.length >= length;
  return complete ? { status, headers: head, body: body.toString('utf8'), closed } : undefined;
}

const patienceMs = 15_000;

/** Sends bytes over a connection of its own and reads one answer. */
export async function sendRaw(port: number, bytes: Buffer, { halfClose = false } = {}): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  const parts: Buffer[] = [];
  let closed = false;
  let settle = (): void => {};
  const changed = (): void => settle();
  socket.on('data', (part) => {
    parts.push(part);
    changed();
  });
  socket.on('end', () => {
    closed = true;
    changed();
  });
  // A server that refuses may reset what is still being sent; what it answered before counts.
  socket.on('error', () => {
    closed = true;
    changed();
  });
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), patienceMs);
  try {
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    if (halfClose) socket.end(bytes);
    else socket.write(bytes);
    for (;;) {
      const answer = wholeAnswer(Buffer.concat(parts), closed);
      if (answer !== undefined) return answer;
      if (closed) return { status: 0, headers: '', body: '', closed };
      await new Promise<void>((resolve) => {
        settle = resolve;
      });
    }
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
