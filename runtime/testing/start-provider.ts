import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call that a provider received. */
type Asked = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string };

/** How a provider answers; it may also do anything else to the connection. */
export type Behaviour = (response: ServerResponse, asked: Asked) => void;

export type TestProvider = AsyncDisposable & {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** From the next question on. */
  readonly behave: (behaviour: Behaviour) => void;
};

/** A detector or classifier over real HTTP on loopback. */
export async function startProvider(first: Behaviour): Promise<TestProvider> {
  const asked: Asked[] = [];
  let behaviour = first;
  const server = createServer((incoming, response) => {
    readAll(incoming).then(
      (text) => {
        const question = { path: incoming.url ?? '', headers: incoming.headers, text };
        asked.push(question);
        behaviour(response, question);
      },
      () => response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    behave(next) {
      behaviour = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Answers with this status and body. */
export function answers(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Behaviour {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  };
}

/** A chat completion with this content and nothing unusual. */
export function completion(content: unknown, message: object = {}, finish = 'stop'): object {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'judge-1',
    choices: [
      {
        index: 0,
        finish_reason: finish,
        logprobs: null,
        message: { role: 'assistant', content: text, refusal: null, ...message },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

export const allow: Behaviour = answers({ decision: 'allow' });
export const deny: Behaviour = answers({ decision: 'deny' });
/** Never answers and keeps the connection. */
export const silence: Behaviour = () => undefined;
