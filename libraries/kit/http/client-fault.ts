import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { sendBytes } from './json-answer.ts';
import { headerValues } from './raw-headers.ts';
import { drainRefused } from './read-body.ts';

/**
 * Why a request is refused before its handler runs.
 * - `headers_too_large`: the request line and headers exceed `maxHeaderBytes`
 * - `bad_request`: not HTTP; Host missing, repeated or invalid; conflicting body framing or coding; a fragment; CONNECT
 * - `timeout`: the headers or the request were not complete in time
 * - `expectation`: an Expect header other than 100-continue
 */
export type ClientFault = 'headers_too_large' | 'bad_request' | 'timeout' | 'expectation';
export type FaultAnswer = { readonly status: number; readonly contentType: string; readonly body: string };

const PLAIN_STATUS = {
  headers_too_large: 431,
  bad_request: 400,
  timeout: 408,
  expectation: 417,
} as const satisfies Record<ClientFault, number>;

/** The response of a service without its own error format. */
export function plainFaultAnswer(fault: ClientFault): FaultAnswer {
  const status = PLAIN_STATUS[fault];
  return { status, contentType: 'text/plain; charset=utf-8', body: `${STATUS_CODES[status]}\n` };
}

/** The fault of an error of Node's HTTP parser; undefined when the connection is broken, so that no response is possible. */
export function faultOfParserError(error: NodeJS.ErrnoException): ClientFault | undefined {
  const code = error.code ?? '';
  if (code === 'HPE_HEADER_OVERFLOW') return 'headers_too_large';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'timeout';
  return code.startsWith('HPE_') ? 'bad_request' : undefined;
}

/** Refuses versions other than HTTP/1.1 and 1.0; Node's parser accepts other versions and a missing version. */
function versionFault(incoming: IncomingMessage): ClientFault | undefined {
  return incoming.httpVersion === '1.1' || incoming.httpVersion === '1.0' ? undefined : 'bad_request';
}

/** A host with an optional port (RFC 3986 §3.2.2 and RFC 3986 §3.2.3), or the empty value for a target without authority. */
const HOST = /^(?:[A-Za-z0-9\-._~%!$&'()*+,;=]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;

/** Refuses a Host header that violates RFC 9112 §3.2; Node accepts a repeated or invalid header. */
function hostFault(incoming: IncomingMessage): ClientFault | undefined {
  const hosts = headerValues(incoming.rawHeaders, 'host');
  const isCountValid = incoming.httpVersion === '1.1' ? hosts.length === 1 : hosts.length <= 1;
  return isCountValid && hosts.every((host) => HOST.test(host)) ? undefined : 'bad_request';
}

/** Refuses transfer codings other than a single `chunked` (RFC 9112 §6.1); Node checks only the last coding. */
function codingFault(incoming: IncomingMessage): ClientFault | undefined {
  if (incoming.headers['transfer-encoding'] === undefined) return undefined;
  const codings = headerValues(incoming.rawHeaders, 'transfer-encoding');
  return codings.length === 1 && codings[0]?.toLowerCase() === 'chunked' ? undefined : 'bad_request';
}

/** Refuses a target with a fragment (RFC 9112 §3.2); Node would treat it as part of the path. */
function targetFault(incoming: IncomingMessage): ClientFault | undefined {
  return incoming.url?.includes('#') === true ? 'bad_request' : undefined;
}

/** The fault of a request that Node accepted; undefined if the request has no fault. */
export function messageFault(incoming: IncomingMessage): ClientFault | undefined {
  return versionFault(incoming) ?? hostFault(incoming) ?? codingFault(incoming) ?? targetFault(incoming);
}

/** Answers a request instead of its handler and closes the connection. */
export function refuseRequest(incoming: IncomingMessage, outgoing: ServerResponse, answer: FaultAnswer): void {
  outgoing.shouldKeepAlive = false;
  drainRefused(incoming, outgoing);
  sendBytes(outgoing, answer.status, answer.contentType, Buffer.from(answer.body));
}

/** Time for a client to read a response that ends its connection. */
const LINGER_MS = 500;

/** Answers on a connection without a request object and closes it. */
export function refuseConnection(socket: Socket, answer: FaultAnswer): void {
  // Node removes its error listener from this socket; without a listener, a reset would end the process.
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
