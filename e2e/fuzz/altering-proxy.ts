import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Replaces one answer, given as text with one character per byte; an empty text drops the answer. */
export type Alteration = (answer: string) => string;

export type AlteringProxy = AsyncDisposable & {
  readonly port: number;
  /** Sets the change for all following answers. */
  readonly alter: (alteration: Alteration) => void;
};

/** Forwards requests to a runtime unchanged and alters its answers, like a runtime with a planted defect. */
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

/**
 * Splits a chunk into the answers that begin in it, and alters each of them; the rest of an earlier answer is forwarded
 * unchanged.
 */
function altered(chunk: Buffer, alteration: Alteration): Buffer {
  const parts = chunk.toString('latin1').split(/(?=HTTP\/1\.1 [1-5])/);
  return Buffer.from(parts.map((part) => (part.startsWith('HTTP/') ? alteration(part) : part)).join(''), 'latin1');
}

/** An otherwise correct answer with this body. */
export function answerOf(status: number, body: string): string {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 ${status} X\r\ncontent-type: application/json\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return head + bytes.toString('latin1');
}
