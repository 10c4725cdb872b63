import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type RawClient = AsyncDisposable & {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** The next whole answer, an interim one (100) too. Answers without a length are an error. */
  answer(): Promise<RawAnswer>;
  /** Waits until the server closed the connection; whatever it sent that was not asked for. */
  closed(): Promise<string>;
};

/** How long a test waits for the server before it fails. */
const PATIENCE_MS = 10_000;

/** A client on a bare socket, for what no HTTP client would send. */
export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let received = Buffer.alloc(0);
  let over = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    over = true;
    wake();
  });
  await once(socket, 'connect');

  async function until<T>(look: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal.addEventListener('abort', () => reject(new Error(`the server was silent; so far: ${received}`)));
      });
    }
  }

  return {
    socket,
    send: (text) => void socket.write(text),
    answer: () =>
      until(() => {
        const parsed = parseAnswer(received);
        if (parsed === undefined) {
          if (over) throw new Error(`the connection closed before an answer; so far: ${received}`);
          return undefined;
        }
        received = received.subarray(parsed.length);
        return parsed.answer;
      }),
    closed: () => until(() => (over ? received.toString() : undefined)),
    async [Symbol.asyncDispose]() {
      socket.destroy();
    },
  };
}

function parseAnswer(bytes: Buffer): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const declared = headers['content-length'];
  if (declared === undefined && status !== 100) throw new Error(`an answer without content-length: ${first}`);
  const length = headEnd + 4 + Number(declared ?? 0);
  if (bytes.length < length) return undefined;
  return { answer: { status, headers, body: bytes.toString('utf8', headEnd + 4, length) }, length };
}
