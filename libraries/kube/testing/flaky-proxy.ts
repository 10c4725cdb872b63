import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The fault of a request: `cut` resets the connection after some bytes of the response, `end` ends the response early,
 * `freeze` stops sending, `shred` sends every byte in its own chunk.
 */
export type Mishap = 'none' | 'busy' | 'error' | 'gone' | 'reset' | 'cut' | 'end' | 'freeze' | 'shred';

export type FlakyProxy = AsyncDisposable & {
  readonly url: string;
  /** URL of the server; may change at any time. */
  target: string;
  /** Chooses the fault of the next request. */
  choose: (incoming: IncomingMessage) => Mishap;
  /** Number of requests by fault. */
  readonly counts: ReadonlyMap<Mishap, number>;
};

/** An HTTP proxy that simulates network faults. */
export async function startFlakyProxy(target: string): Promise<FlakyProxy> {
  const counts = new Map<Mishap, number>();
  const proxy: { target: string; choose: FlakyProxy['choose'] } = { target, choose: () => 'none' };
  const server = createServer((incoming, outgoing) => {
    const mishap = proxy.choose(incoming);
    counts.set(mishap, (counts.get(mishap) ?? 0) + 1);
    answer(mishap, incoming, outgoing, proxy.target);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  });
}

function answer(mishap: Mishap, incoming: IncomingMessage, outgoing: ServerResponse, target: string): void {
  switch (mishap) {
    case 'busy':
      outgoing.writeHead(429, { 'retry-after': '0' }).end();
      return;
    case 'error':
      outgoing.writeHead(500).end('oops');
      return;
    case 'gone':
      outgoing.writeHead(410).end();
      return;
    case 'reset':
      outgoing.socket?.resetAndDestroy();
      return;
    case 'none':
    case 'shred':
    case 'cut':
    case 'end':
    case 'freeze':
      forward(mishap, incoming, outgoing, target);
  }
}

function forward(mishap: Mishap, incoming: IncomingMessage, outgoing: ServerResponse, target: string): void {
  const { method = 'GET', rawHeaders, url = '/' } = incoming;
  const onward = request(`${target}${url}`, { method, headers: rawHeaders }, (answered) => {
    outgoing.writeHead(answered.statusCode ?? 502, { 'content-type': 'application/json' });
    outgoing.flushHeaders();
    let left = mishap === 'none' || mishap === 'shred' ? Number.POSITIVE_INFINITY : 300 + Math.random() * 3_000;
    answered.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, Math.max(0, Math.min(left, chunk.length)));
      if (mishap === 'shred') for (const byte of part) outgoing.write(Buffer.from([byte]));
      else if (part.length > 0) outgoing.write(part);
      left -= chunk.length;
      if (left <= 0 && mishap === 'cut') outgoing.socket?.resetAndDestroy();
      if (left <= 0 && mishap === 'end') outgoing.end();
    });
    answered.on('end', () => (mishap === 'freeze' ? undefined : outgoing.end()));
    answered.on('error', () => outgoing.destroy());
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
