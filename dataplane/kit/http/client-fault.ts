import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { sendBytes } from './json-answer.ts';
import { headerValues } from './raw-headers.ts';
import { drainRefused } from './read-body.ts';

/**
 * What Node finds wrong before a handler sees the request.
 * - `headers_too_large`: the request line and headers exceed `maxHeaderBytes`
 * - `bad_request`: not HTTP, Host missing or repeated, a body framed in two ways, CONNECT
 * - `timeout`: the headers or the request did not arrive in time
 * - `expectation`: an Expect header with anything but 100-continue
 */
export type ClientFault = 'headers_too_large' | 'bad_request' | 'timeout' | 'expectation';
export type FaultAnswer = { readonly status: number; readonly contentType: string; readonly body: string };

const PLAIN_STATUS = {
  headers_too_large: 431,
  bad_request: 400,
  timeout: 408,
  expectation: 417,
} as const satisfies Record<ClientFault, number>;

/** The answer where the service has no error body of its own. */
export function plainFaultAnswer(fault: ClientFault): FaultAnswer {
  const status = PLAIN_STATUS[fault];
  return { status, contentType: 'text/plain; charset=utf-8', body: `${STATUS_CODES[status]}\n` };
}

/** The fault behind an error of Node's HTTP parser; undefined where the connection broke and nobody is left to tell. */
export function faultOfParserError(error: NodeJS.ErrnoException): ClientFault | undefined {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'timeout';
  return code.startsWith('HPE_') ? 'bad_request' : undefined;
}

/** Whether a request speaks HTTP/1.1 or 1.0; Node's parser lets other versions, and none at all, pass. */
export function versionFault(incoming: IncomingMessage): ClientFault | undefined {
  return /^1\.[01]$/.test(incoming.httpVersion) ? undefined : 'bad_request';
}

/** Whether a request names its host as RFC 9112 §3.2 demands; Node lets a repeated Host header pass. */
export function hostFault(incoming: IncomingMessage): ClientFault | undefined {
  const hosts = headerValues(incoming.rawHeaders, 'host').length;
  const wanted = incoming.httpVersion === '1.1' ? hosts === 1 : hosts <= 1;
  return wanted ? undefined : 'bad_request';
}

/** Answers a request that no handler will see, and closes. */
export function refuseRequest(incoming: IncomingMessage, outgoing: ServerResponse, answer: FaultAnswer): void {
  outgoing.shouldKeepAlive = false;
  drainRefused(incoming, outgoing);
  sendBytes(outgoing, answer.status, answer.contentType, Buffer.from(answer.body));
}

/** How long a client may take to read an answer that ends its connection. */
const LINGER_MS = 500;

/** Answers on a connection that carries no request object, and closes it. */
export function refuseConnection(socket: Socket, answer: FaultAnswer): void {
  // Node takes its own listener away from a connection that it hands out; a reset would end the process.
  socket.on('error', () => undefined);
  const body = Buffer.from(answer.body);
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`,
    `date: ${new Date().toUTCString()}`,
    `content-type: ${answer.contentType}`,
    `content-length: ${body.length}`,
    'connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
