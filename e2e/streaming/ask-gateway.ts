import { Agent, request } from 'node:http';
import type { Received } from './judge-stream.ts';
import type { MadeStream } from './make-stream.ts';

/** A client of the gateway with separate connections. */
export type StreamClient = Disposable & { ask(model: string, stream: MadeStream): Promise<Received> };

export function createStreamClient(url: string, key: string, connections: number): StreamClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    ask(model, stream) {
      const seed = String(stream.seed);
      const isChat = stream.api === 'chat';
      const asked = isChat ? { messages: [{ role: 'user', content: seed }] } : { input: seed };
      const body = JSON.stringify({ model, stream: true, ...asked });
      const path = isChat ? '/v1/chat/completions' : '/v1/responses';
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      return new Promise((resolve, reject) => {
        const outgoing = request(`${url}${path}`, { agent, method: 'POST', headers }, (answer) => {
          const parts: Buffer[] = [];
          answer
            .on('data', (part: Buffer) => parts.push(part))
            .on('error', reject)
            .on('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }));
        });
        outgoing.on('error', reject).end(body);
      });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}
