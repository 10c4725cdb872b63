import { text as readText } from 'node:stream/consumers';
import { listen } from '#kit/http/listen';
import { createHandler } from '../http/create-handler.ts';

type Answer = { readonly status: number; readonly text: string };
type AnsweredCall = Answer & {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const server = { headersTimeoutMs: 5_000, keepAliveTimeoutMs: 5_000, maxHeaderBytes: 16_384 } as const;
const unsent = ['connection', 'content-length', 'host', 'transfer-encoding'];

/**
 * Handlers of an agent whose answers a test replaces before they are sent.
 * @param alter returns the answer that replaces the real one; undefined to send the real answer
 * @param parts closes the sockets of the real handlers
 */
export function alteredHandlers(
  parts: AsyncDisposableStack,
  alter: (call: AnsweredCall) => Partial<Answer> | undefined,
): typeof createHandler {
  return (options) => {
    const handler = createHandler(options);
    const real = listen({ ...server, host: '127.0.0.1', port: 0, handler, onHandlerError: () => undefined });
    parts.defer(async () => (await real)[Symbol.asyncDispose]());
    return async (incoming, outgoing) => {
      const { method = 'GET', url: path = '/' } = incoming;
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).flatMap(([name, value]) =>
          unsent.includes(name) ? [] : [[name, String(value)] as const],
        ),
      );
      const body = await readText(incoming);
      const sent = { method, headers, ...(body === '' ? {} : { body }) };
      const answer = await fetch(`${(await real).url}${path}`, sent);
      const given = { status: answer.status, text: await answer.text() };
      const { status, text } = { ...given, ...alter({ ...given, method, path, headers, body }) };
      const session = answer.headers.get('mcp-session-id');
      outgoing.writeHead(status, session === null ? {} : { 'mcp-session-id': session }).end(text);
    };
  };
}
