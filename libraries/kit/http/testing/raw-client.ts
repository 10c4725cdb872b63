import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type RawAnswer = {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

type RawClient = AsyncDisposable & {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** The next complete response, including an interim response (100). A response without a length is an error. */
  answer(): Promise<RawAnswer>;
  /** Resolves when the server has closed the connection, with the bytes that were not read as responses. */
  closed(): Promise<string>;
};

/** Time within which the server must answer. */
const RESPONSE_TIMEOUT_MS = 10_000;

/** A client on a plain socket, for requests that no HTTP client would send. */
export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let received = Buffer.alloc(0);
  let isClosed = false;
  let notify = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    notify();
  });
  socket.on('error', () => undefined);
  socket.on('close', () => {
    isClosed = true;
    notify();
  });
  await once(socket, 'connect');

  async function until<T>(probe: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS);
    for (;;) {
      const found = probe();
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        notify = resolve;
        signal.addEventListener('abort', () => reject(new Error(`no response; received so far: ${received}`)));
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
          if (isClosed) throw new Error(`the connection closed before a response; received so far: ${received}`);
          return undefined;
        }
        received = received.subarray(parsed.length);
        return parsed.answer;
      }),
    closed: () => until(() => (isClosed ? received.toString() : undefined)),
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
  if (declared === undefined && status !== 100) throw new Error(`a response without content-length: ${first}`);
  const length = headEnd + 4 + Number(declared ?? 0);
  if (bytes.length < length) return undefined;
  return { answer: { status, headers, body: bytes.toString('utf8', headEnd + 4, length) }, length };
}
