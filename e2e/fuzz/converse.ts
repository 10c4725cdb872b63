import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { readAnswer, type WireResponse } from './read-answer.ts';

/** The answers that arrived on a connection. */
export type Reply = {
  readonly answers: readonly WireResponse[];
  /** The peer closed the connection. */
  readonly ended: boolean;
  /** The time limit passed first. */
  readonly stuck: boolean;
  /** Why the bytes after the parsed HTTP answers are not a valid answer. */
  readonly broken: string | undefined;
  /** Number of received bytes that belong to no answer. */
  readonly rest: number;
};

export type Conversation = Disposable & {
  /**
   * Writes the pieces one after another and waits for the answers, for the end of the connection if an answer announces
   * it, or for the time limit. `heads` states for each request whether its answer has no body; `half` closes the
   * writing side after the pieces and waits until the peer closes.
   */
  say(pieces: readonly Buffer[], heads: readonly boolean[], half: boolean): Promise<Reply>;
};

/** Timeout for an answer, longer than any answer takes on a busy machine. */
const longestWaitMs = 30_000;

/** Opens a connection. Disposing resets the connection, so that a million connections leave none in TIME_WAIT. */
export async function openConversation(port: number, patienceMs = longestWaitMs): Promise<Conversation> {
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
    const answers: WireResponse[] = [];
    let broken: string | undefined;
    let stuck = false;

    function take(): void {
      while (answers.length < heads.length && broken === undefined) {
        const reading = readAnswer(line.received, heads[answers.length] === true);
        if (reading.kind === 'unfinished') return;
        if (reading.kind === 'broken') broken = reading.fault;
        else line.received = reading.rest;
        if (reading.kind === 'answer') answers.push(reading.answer);
      }
    }
    function isOver(): boolean {
      const closing = answers.at(-1)?.headers.get('connection') === 'close';
      return line.ended || stuck || broken !== undefined || !(closing || half || answers.length < heads.length);
    }

    const done = Promise.withResolvers<void>();
    changed = () => {
      take();
      if (isOver()) done.resolve();
    };
    const patience = setTimeout(() => {
      stuck = true;
      changed();
    }, patienceMs);
    await write(socket, pieces, half);
    changed();
    await done.promise;
    clearTimeout(patience);
    return { answers, ended: line.ended, stuck, broken, rest: line.received.length };
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
