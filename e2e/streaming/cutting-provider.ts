import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    // The gateway drops its connection when it stops a stream.
    serve(socket, (seed) => offered.get(seed)).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    offer: (stream) => void offered.set(stream.seed, stream),
    withdraw: (stream) => void offered.delete(stream.seed),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Answers requests one after the other, because the gateway does not pipeline. */
async function serve(socket: Socket, find: (seed: number) => MadeStream | undefined): Promise<void> {
  let unread = Buffer.alloc(0);
  for await (const part of socket as AsyncIterable<Buffer>) {
    unread = Buffer.concat([unread, part]);
    const headEnd = unread.indexOf('\r\n\r\n');
    if (headEnd < 0) continue;
    const length = Number(/content-length: (\d+)/i.exec(unread.toString('latin1', 0, headEnd))?.[1]);
    if (unread.length < headEnd + 4 + length) continue;
    const request = JSON.parse(unread.toString('utf8', headEnd + 4, headEnd + 4 + length)) as {
      messages: { content: string }[];
    };
    unread = unread.subarray(headEnd + 4 + length);
    const stream = find(Number(request.messages.at(-1)?.content));
    if (stream === undefined) return void socket.destroy();
    await send(socket, stream);
  }
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
