import { once } from 'node:events';
import { connect } from 'node:net';

/** One HTTP answer as received on the connection. */
export type RawAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the server closed the connection after the answer. */
  readonly closed: boolean;
};

/** Timeout that is longer than any answer takes: a server that neither answers nor closes fails the test. */
const patienceMs = 8_000;

/**
 * Sends bytes over a new connection and reads the first answer. `half` closes the client's side after the bytes. The
 * answer is undefined if the server closes the connection without an answer.
 */
export async function rawRequest(
  url: string,
  bytes: Buffer,
  options: { readonly half?: boolean } = {},
): Promise<RawAnswer | undefined> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let received = Buffer.alloc(0);
  let ended = false;
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
  });
  socket.on('end', () => {
    ended = true;
  });
  socket.on('error', () => {
    ended = true;
  });
  await once(socket, 'connect');
  socket.write(bytes);
  if (options.half === true) socket.end();
  const patience = AbortSignal.timeout(patienceMs);
  try {
    while (!ended && answerLength(received) === undefined) await nextEvent(socket, patience);
    const length = answerLength(received);
    if (length === undefined) return undefined;
    const head = received.subarray(0, received.indexOf('\r\n\r\n')).toString('latin1');
    if (/^connection: close$/im.test(head)) while (!ended) await nextEvent(socket, patience);
    return { ...parseHead(head), body: received.subarray(head.length + 4, length).toString('utf8'), closed: ended };
  } finally {
    socket.destroy();
  }
}

/**
 * The end of the first final answer; undefined while the answer is not complete. Interim answers (1xx) must already be
 * removed.
 */
function answerLength(received: Buffer): number | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const declared = /^content-length: (\d+)$/im.exec(received.subarray(0, end).toString('latin1'))?.[1];
  const length = end + 4 + Number(declared ?? 0);
  return received.length >= length ? length : undefined;
}

async function nextEvent(socket: ReturnType<typeof connect>, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const events = ['data', 'end', 'close', 'error'].map((name) =>
    once(socket, name, { signal: AbortSignal.any([signal, done.signal]) }),
  );
  try {
    await Promise.race(events);
  } finally {
    for (const event of events) event.catch(() => undefined);
    done.abort();
  }
}

function parseHead(head: string): Pick<RawAnswer, 'status' | 'headers'> {
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers) as Record<string, string> };
}
