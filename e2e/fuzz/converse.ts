import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** One answer as it came over a connection. */
export type Answer = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
};

/** What came back for some requests. `ended`: the other side closed. `rest`: bytes that belong to no answer. */
export type Reply = {
  readonly answers: readonly Answer[];
  readonly ended: boolean;
  readonly stuck: boolean;
  readonly rest: number;
};

export type Conversation = Disposable & {
  /**
   * Writes the pieces one after another and waits for the answers, for the end of the connection where an answer
   * announces it, or until patience ends. `heads` says for each request whether its answer has no body.
   */
  say(pieces: readonly Buffer[], heads: readonly boolean[], half: boolean): Promise<Reply>;
};

/** Longer than any answer takes on a busy machine. */
const patienceMs = 30_000;

/** Opens a connection. Disposing resets it, so that the kernel remembers none of a million. */
export async function openConversation(port: number): Promise<Conversation> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  const line: { received: Buffer; ended: boolean } = { received: Buffer.alloc(0), ended: false };
  let changed: () => void = () => undefined;
  socket.on('data', (chunk: Buffer) => {
    line.received = line.received.length === 0 ? chunk : Buffer.concat([line.received, chunk]);
    changed();
  });
  for (const event of ['end', 'error', 'close']) {
    socket.on(event, () => {
      line.ended = true;
      changed();
    });
  }
  await once(socket, 'connect');

  async function say(pieces: readonly Buffer[], heads: readonly boolean[], half: boolean): Promise<Reply> {
    const answers: Answer[] = [];
    let closing = false;
    let stuck = false;
    const done = new Promise<void>((resolve) => {
      const patience = setTimeout(() => {
        stuck = true;
        changed();
      }, patienceMs);
      changed = () => {
        while (answers.length < heads.length) {
          const taken = takeAnswer(line.received, heads[answers.length] === true);
          if (taken === undefined) break;
          line.received = taken.rest;
          if (taken.answer.status < 200) continue;
          answers.push(taken.answer);
          if (taken.answer.headers.get('connection') === 'close') closing = true;
        }
        if (!line.ended && !stuck && (closing || half || answers.length < heads.length)) return;
        clearTimeout(patience);
        resolve();
      };
    });
    await write(socket, pieces, half);
    changed();
    await done;
    return { answers, ended: line.ended, stuck, rest: line.received.length };
  }

  return { say, [Symbol.dispose]: () => void socket.resetAndDestroy() };
}

async function write(socket: Socket, pieces: readonly Buffer[], half: boolean): Promise<void> {
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await setImmediate();
    if (socket.writable) socket.write(piece);
  }
  if (half && socket.writable) socket.end();
}

function takeAnswer(received: Buffer, head: boolean): { readonly answer: Answer; readonly rest: Buffer } | undefined {
  const end = received.indexOf('\r\n\r\n', 0, 'latin1');
  if (end < 0) return undefined;
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const length = head ? 0 : Number(headers.get('content-length') ?? 0);
  const next = end + 4 + length;
  if (received.length < next) return undefined;
  const answer = { status: Number(first.split(' ')[1]), headers, body: received.subarray(end + 4, next) };
  return { answer, rest: received.subarray(next) };
}
