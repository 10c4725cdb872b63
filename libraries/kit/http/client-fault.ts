import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { sendBytes } from './json-answer.ts';
import { headerValues } from './raw-headers.ts';
import { drainRefused } from './read-body.ts';

/**
 * What Node finds wrong before a handler sees the request.
 * - `headers_too_large`: the request line and headers exceed `maxHeaderBytes`
 * - `bad_request`: not HTTP, Host missing, repeated or impossible, a body framed or coded in two ways, a fragment, CONNECT
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
function versionFault(incoming: IncomingMessage): ClientFault | undefined {
  return incoming.httpVersion === '1.1' || incoming.httpVersion === '1.0' ? undefined : 'bad_request';
}

/** A host with or without a port (RFC 3986 §3.2.2, §3.2.3), and the empty value of a target without authority. */
const HOST = /^(?:[A-Za-z0-9\-._~%!$&'()*+,;=]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?$/;

/** Whether a request names its host as RFC 9112 §3.2 demands; Node lets a repeated or impossible one pass. */
function hostFault(incoming: IncomingMessage): ClientFault | undefined {
  const hosts = headerValues(incoming.rawHeaders, 'host');
  const wanted = incoming.httpVersion === '1.1' ? hosts.length === 1 : hosts.length <= 1;
  return wanted && hosts.every((host) => HOST.test(host)) ? undefined : 'bad_request';
}

/** Whether a body is coded in no way but chunks, once (RFC 9112 §6.1); Node asks only for chunks as the last coding. */
function codingFault(incoming: IncomingMessage): ClientFault | undefined {
  if (incoming.headers['transfer-encoding'] === undefined) return undefined;
  const codings = headerValues(incoming.rawHeaders, 'transfer-encoding');
  return codings.length === 1 && codings[0]?.toLowerCase() === 'chunked' ? undefined : 'bad_request';
}

/** Whether a target has no fragment, which is never sent (RFC 9112 §3.2); Node would pass it on as part of the path. */
function targetFault(incoming: IncomingMessage): ClientFault | undefined {
  return incoming.url?.includes('#') === true ? 'bad_request' : undefined;
}

/** What is wrong with a request that Node let pass. */
export function messageFault(incoming: IncomingMessage): ClientFault | undefined {
  return versionFault(incoming) ?? hostFault(incoming) ?? codingFault(incoming) ?? targetFault(incoming);
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
