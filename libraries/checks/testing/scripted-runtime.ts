import { createServer, type Socket } from 'node:net';
import { denyText } from '#contracts/checks';

/** One check as the scripted runtime received it. */
type ReceivedCheck = {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Number of earlier calls on the same connection. */
  readonly place: number;
};

export type RuntimeBehaviour = (socket: Socket, check: ReceivedCheck) => void;

export type ScriptedRuntime = AsyncDisposable & {
  readonly origin: string;
  readonly received: ReceivedCheck[];
  /** Sets the behaviour of the scripted runtime for the next calls. */
  behave(behaviour: RuntimeBehaviour): void;
};

/** A server on a real socket that receives complete requests and then treats the connection as the test demands. */
export async function startScriptedRuntime(first: RuntimeBehaviour): Promise<ScriptedRuntime> {
  const received: ReceivedCheck[] = [];
  const sockets = new Set<Socket>();
  let behaviour = first;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    let held = Buffer.alloc(0);
    let place = 0;
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('data', (bytes) => {
      held = Buffer.concat([held, bytes]);
      for (let request = takeRequest(held); request !== undefined; request = takeRequest(held)) {
        held = request.rest;
        const check = { ...request.check, place };
        place += 1;
        received.push(check);
        behaviour(socket, check);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    behave(next) {
      behaviour = next;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function takeRequest(held: Buffer): { check: Omit<ReceivedCheck, 'place'>; rest: Buffer<ArrayBuffer> } | undefined {
  const end = held.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [requestLine = '', ...lines] = held.toString('latin1', 0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/:\s*(.*)/s, 2)).map(([k, v]) => [k?.toLowerCase(), v]),
  );
  const length = Number(headers['content-length'] ?? 0);
  if (held.length < end + 4 + length) return undefined;
  const body = held.toString('utf8', end + 4, end + 4 + length);
  const check = { path: requestLine.split(' ')[1] ?? '', headers, body };
  return { check, rest: Buffer.from(held.subarray(end + 4 + length)) };
}

/** A complete HTTP answer with the correct content-length. */
export function answerWith(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RuntimeBehaviour {
  return (socket) => socket.write(rawAnswer(status, typeof body === 'string' ? body : JSON.stringify(body), headers));
}

export function rawAnswer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join('')}\r\n${body}`;
}

export const passResult = { action: { reason: 'policy_pass' } };
export const denyResult = { action: { body: denyText, status_code: 403, reason: 'policy_denied' } };

export function requestMask(...messages: readonly { role: string; content: string }[]) {
  return { action: { body: { messages }, reason: 'content_redacted' } };
}

export function responseMask(...messages: readonly { role: string; content: string }[]) {
  return { action: { body: { choices: messages.map((message) => ({ message })) }, reason: 'content_redacted' } };
}

/** An error body as a runtime sends it. */
export function scriptedError(code: string) {
  return { code, message: 'what the runtime says', traceId: '0'.repeat(32) };
}
