import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import {
  type ClientFault,
  type FaultAnswer,
  faultOfParserError,
  messageFault,
  plainFaultAnswer,
  refuseConnection,
  refuseRequest,
} from './client-fault.ts';
import { type Connections, connectionEvent, lingerOnClose, watchConnections } from './connections.ts';
import { holdContinue } from './expect-continue.ts';
import { bindServer } from './listen-error.ts';
import { headerValues } from './raw-headers.ts';
import { drainRefused } from './read-body.ts';
import { createTlsServer, type ServedTls } from './tls-server.ts';

export type { ClientFault, FaultAnswer } from './client-fault.ts';

export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** The `fetch` of a Hono application; `env` contains Node's own request and response. */
export type FetchHandler = (
  request: Request,
  env: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
) => Response | Promise<Response>;

/**
 * Answers a request directly, or returns undefined to pass it to `fetch`. For hot routes that need no Request and Response
 * objects of the framework.
 */
export type DirectHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined;

export type ListenOptions = (
  | { readonly handler: NodeHandler }
  | { readonly fetch: FetchHandler; readonly direct?: DirectHandler }
) & {
  /** A host name or address of this machine. */
  readonly host: string;
  /** Port of the server; 0 selects a free port. */
  readonly port: number;
  /** The response to a request that does not reach the handler; the connection is closed after it. */
  readonly clientError?: (fault: ClientFault) => FaultAnswer;
  /**
   * When `100 Continue` is sent: `when_read` (the default): when `readBody` begins, so that a handler can refuse
   * before; `at_once`: before the handler, for handlers that do not use `readBody`.
   */
  readonly onContinue?: 'when_read' | 'at_once';
  /**
   * Called with an error of a handler; if absent, such an error ends the process. The connection is closed in both
   * cases.
   */
  readonly onHandlerError?: (error: unknown) => void;
  /** Timeout of the headers of a request. */
  readonly headersTimeoutMs: number;
  /** Timeout of a whole request; 300 s when absent. */
  readonly requestTimeoutMs?: number;
  /** How long the server keeps an idle connection, milliseconds. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A connection is closed with its next response at a random age between half of this value and the value, so that
   * clients of several replicas at one address reconnect to newer replicas; never when absent.
   */
  readonly connectionAgeMs?: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
  /** Serves TLS only; plain HTTP when absent. */
  readonly tls?: ServedTls | undefined;
};

export type Listening = AsyncDisposable & {
  /** `http://127.0.0.1:port`, or with the requested address; `https` with TLS. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting connections, answers requests in flight with `connection: close`, closes idle connections
   * immediately and the others after their response, at the latest after `graceMs`. With `idleMs`, requests are first
   * accepted for that time, or until no connection is left, and answered with `connection: close`, so that no client
   * sends a request on a connection that is being closed. The caller must withdraw readiness before the call. Disposing
   * drains without a grace period.
   */
  drain(options: { readonly graceMs: number; readonly idleMs?: number }): Promise<void>;
};

/**
 * Serves HTTP/1.1.
 * @throws ListenError when the address is not available, TlsPairError when the certificate and its key cannot be served
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const serverOptions = {
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: options.headersTimeoutMs,
    requestTimeout: options.requestTimeoutMs ?? 300_000,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1000, options.headersTimeoutMs / 2)),
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const { tls } = options;
  const server = tls === undefined ? createServer(serverOptions) : createTlsServer(serverOptions, tls);
  // Node silently drops headers above this count; `maxHeaderSize` bounds them already.
  server.maxHeadersCount = 0;
  server.on(connectionEvent(server), lingerOnClose);
  const connections = watchConnections(server, options.connectionAgeMs);
  const answerOf = options.clientError ?? plainFaultAnswer;
  serveRequests(server, options, connections, answerOf);
  serveFaults(server, connections, answerOf);
  const { port, url } = await bindServer(server, options.host, options.port);
  return {
    url,
    port,
    drain: ({ graceMs, idleMs = 0 }) => connections.drain({ graceMs, idleMs }),
    [Symbol.asyncDispose]: () => connections.drain({ graceMs: 0, idleMs: 0 }),
  };
}

function serveRequests(
  server: Server,
  options: ListenOptions,
  connections: Connections,
  answerOf: (fault: ClientFault) => FaultAnswer,
): void {
  const handle = 'fetch' in options ? applicationHandler(options, answerOf) : options.handler;

  function admit(incoming: IncomingMessage, outgoing: ServerResponse, fault: ClientFault | undefined): void {
    connections.started(incoming, outgoing);
    // Node drops the bytes that it has read after an upgrade request.
    if (incoming.headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
    const refused = fault ?? messageFault(incoming);
    if (refused !== undefined) return void refuseRequest(incoming, outgoing, answerOf(refused));
    if (hasUnreadBody(incoming)) drainRefused(incoming, outgoing);
    runHandler(handle, incoming, outgoing, options.onHandlerError);
  }

  server.on('request', (incoming, outgoing) => admit(incoming, outgoing, undefined));
  server.on('checkExpectation', (incoming, outgoing) => admit(incoming, outgoing, 'expectation'));
  server.on('checkContinue', (incoming, outgoing) => {
    if (options.onContinue === 'at_once') outgoing.writeContinue();
    else holdContinue(incoming, outgoing);
    admit(incoming, outgoing, undefined);
  });
}

/**
 * Whether a GET or HEAD has a body, which has no meaning (RFC 9110 §9.3.1) and is not read by a handler; Node would
 * discard it without a limit.
 */
function hasUnreadBody({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function runHandler(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  onError: ((error: unknown) => void) | undefined,
): void {
  Promise.try(handle, incoming, outgoing).catch((error: unknown) => {
    outgoing.destroy();
    if (onError === undefined) throw error;
    onError(error);
  });
}

/** A host that the framework accepts without parsing; it parses any other host and may refuse it. */
const plainHost = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;

function applicationHandler(
  { fetch, direct }: { readonly fetch: FetchHandler; readonly direct?: DirectHandler },
  answerOf: (fault: ClientFault) => FaultAnswer,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  const listener = fetchListener(fetch, answerOf);
  if (direct === undefined) return listener;
  return (incoming, outgoing) => {
    const [host = ''] = headerValues(incoming.rawHeaders, 'host');
    const answered = plainHost.test(host) ? direct(incoming, outgoing) : undefined;
    return answered ?? listener(incoming, outgoing);
  };
}

function fetchListener(
  fetch: FetchHandler,
  answerOf: (fault: ClientFault) => FaultAnswer,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return getRequestListener((request, env) => fetch(request, env as Parameters<FetchHandler>[1]), {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler(error) {
      if (!(error instanceof RequestError)) throw error;
      const { status, contentType, body } = answerOf('bad_request');
      return new Response(body, { status, headers: { 'content-type': contentType, connection: 'close' } });
    },
  });
}

function serveFaults(server: Server, connections: Connections, answerOf: (fault: ClientFault) => FaultAnswer): void {
  const refused = new WeakSet<Socket>();

  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    const fault = faultOfParserError(error);
    const open = connections.inFlight(socket);
    if (fault === undefined || socket.bytesRead === 0) return void socket.destroy();
    // The last response was sent and the client may still be reading it.
    if (!socket.writable) return;
    // The broken body belongs to an answered request: the client would take a second response as the answer to its next
    // request.
    if (open.length === 0 && connections.lastIsUnread(socket)) return socket.destroySoon();
    const last = open.at(-1);
    if (last === undefined) return refuseConnection(socket, answerOf(fault));
    if (last.incoming.complete) return endAfterAnswers(socket, last.outgoing);
    // The body of this request broke, which its handler sees in the stream. An error response is possible only before it answered.
    const before = open.at(-2);
    if (before !== undefined) return endAfterAnswers(socket, before.outgoing);
    if (last.outgoing.headersSent) return void socket.destroy();
    refuseConnection(socket, answerOf(fault));
  });

  server.on('connect', (_incoming, stream) => {
    const socket = stream as Socket;
    const last = connections.inFlight(socket).at(-1);
    if (last === undefined) return refuseConnection(socket, answerOf('bad_request'));
    // Node removes its error listener from this socket; without a listener, a reset would end the process.
    socket.on('error', () => undefined);
    endAfterAnswers(socket, last.outgoing);
  });
}

/** Earlier pipelined requests are answered in order; later requests are not read. */
function endAfterAnswers(socket: Socket, last: ServerResponse): void {
  socket.pause();
  if (!last.headersSent) {
    last.shouldKeepAlive = false;
    return;
  }
  last.once('close', () => socket.destroySoon());
}
