import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Changes one answer, given as text of one character per byte; an empty text swallows it. */
export type Alteration = (answer: string) => string;

export type AlteringProxy = AsyncDisposable & {
  readonly port: number;
  /** Sets what happens to each answer from now on. */
  readonly alter: (alteration: Alteration) => void;
};

/** Passes bytes to a runtime untouched and its answers back altered: a runtime with a planted defect. */
export async function startAlteringProxy(target: number): Promise<AlteringProxy> {
  let alteration: Alteration = (answer) => answer;
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const runtime = connect({ host: '127.0.0.1', port: target, allowHalfOpen: true, noDelay: true });
    for (const [one, other] of [
      [client, runtime],
      [runtime, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    client.pipe(runtime);
    runtime.on('data', (chunk: Buffer) => {
      if (client.writable) client.write(altered(chunk, alteration));
    });
    runtime.on('end', () => client.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    alter: (next) => {
      alteration = next;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The answers that begin in a chunk, each altered separately; the rest of one that began before stays as it is. */
function altered(chunk: Buffer, alteration: Alteration): Buffer {
  const parts = chunk.toString('latin1').split(/(?=HTTP\/1\.1 [1-5])/);
  return Buffer.from(parts.map((part) => (part.startsWith('HTTP/') ? alteration(part) : part)).join(''), 'latin1');
}

/** An answer with this body and everything else in order. */
export function answerOf(status: number, body: string): string {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return head + bytes.toString('latin1');
}
