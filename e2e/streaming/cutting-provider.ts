import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startScriptedRuntime } from '#checks/testing/scripted-runtime';
import type { MadeStream } from './make-stream.ts';
import { createRandom, type Random } from './random.ts';

/** A provider that sends generated streams over TCP, cut anywhere: inside frames, characters and HTTP chunks. */
export type CuttingProvider = AsyncDisposable & {
  readonly url: string;
  /** Answers requests whose last message is the seed of this stream. */
  offer(stream: MadeStream): void;
  withdraw(stream: MadeStream): void;
};

const head =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nkeep-alive: timeout=60\r\n\r\n';

export async function startCuttingProvider(): Promise<CuttingProvider> {
  const offered = new Map<number, MadeStream>();
  const server = await startScriptedRuntime((socket, { body }) => {
    const { messages, input } = JSON.parse(body) as { messages?: { content: string }[]; input?: string };
    const stream = offered.get(Number(input ?? messages?.at(-1)?.content));
    if (stream === undefined) socket.destroy();
    // The gateway drops its connection when it stops a stream.
    else send(socket.setNoDelay(true), stream).catch(() => socket.destroy());
  });
  return {
    url: server.origin,
    offer: (stream) => void offered.set(stream.seed, stream),
    withdraw: (stream) => void offered.delete(stream.seed),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function send(socket: Socket, stream: MadeStream): Promise<void> {
  const random = createRandom(stream.seed ^ 0x5bd1e995);
  const bytes = Buffer.concat([
    Buffer.from(head),
    ...chunked(random, Buffer.from(stream.body)),
    Buffer.from('0\r\n\r\n'),
  ]);
  const segments = random.pick([1, 3, 12, 40]);
  const cuts = Array.from({ length: segments }, () => random.below(bytes.length)).sort((one, other) => one - other);
  for (const [index, start] of [0, ...cuts].entries()) {
    if (socket.destroyed) return;
    socket.write(bytes.subarray(start, cuts[index] ?? bytes.length));
    if (random.chance(60)) await nextTurn();
  }
}

function chunked(random: Random, body: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const length = Math.min(body.length - at, random.pick([random.between(1, 40), random.between(100, 2_000), 16_384]));
    parts.push(Buffer.from(`${length.toString(16)}\r\n`), body.subarray(at, at + length), Buffer.from('\r\n'));
    at += length;
  }
  return parts;
}
