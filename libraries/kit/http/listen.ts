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
import { type Connections, watchConnections } from './connections.ts';
import { holdContinue } from './expect-continue.ts';
import { lingerOnClose } from './linger-on-close.ts';
import { bindServer } from './listen-error.ts';
import { headerValues } from './raw-headers.ts';
import { drainRefused } from './read-body.ts';

export type { ClientFault, FaultAnswer } from './client-fault.ts';
export { ListenError, type ListenFault } from './listen-error.ts';

export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** The `fetch` of a Hono application; `env` carries Node's own request and response. */
export type FetchHandler = (
  request: Request,
  env: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse },
) => Response | Promise<Response>;

/**
 * Answers a request of an application by itself, or leaves it (undefined) to `fetch`. For routes whose answer does not
 * depend on the Request and Response objects that the framework would make for them.
 */
export type DirectHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined;

export type ListenOptions = (
  | { readonly handler: NodeHandler }
  | { readonly fetch: FetchHandler; readonly direct?: DirectHandler }
) & {
  /** A name or address of this machine. */
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The service's own answer to what never reaches its handler; the connection closes after it. */
  readonly clientError?: (fault: ClientFault) => FaultAnswer;
  /**
   * When a client that asks for it is told `100 Continue`: `when_read` (where not given) as soon as `readBody` begins,
   * so that a handler can refuse first; `at_once` before the handler, for handlers that read bodies another way.
   */
  readonly onContinue?: 'when_read' | 'at_once';
  /** Told of what a handler throws; without it the process ends. The client's connection is cut in both cases. */
  readonly onHandlerError?: (error: unknown) => void;
  /** Until all headers of a request are there. */
  readonly headersTimeoutMs: number;
  /** Until all of a request is there; 300 s where not given. */
  readonly requestTimeoutMs?: number;
  /** How long an idle connection is kept. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A connection of half this age up to this age is closed with its next answer, so that clients of several processes
   * behind one address find those that came later; never where not given.
   */
  readonly connectionAgeMs?: number;
  /** Request line and headers together. */
  readonly maxHeaderBytes: number;
};

export type Listening = AsyncDisposable & {
  /** `http://127.0.0.1:port`, or the address that was asked for. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, answers what is in flight with `connection: close`, closes idle connections at once and the rest
   * when it is answered, at the latest after `graceMs`. With `idleMs`, requests are taken for so long before that, or
   * until no connection is left, each answered with `connection: close`: a client that is about to use an idle
   * connection does not find it closed. Readiness is the caller's to withdraw before. Disposing drains without grace.
   */
  drain(options: { readonly graceMs: number; readonly idleMs?: number }): Promise<void>;
};

/**
 * Serves HTTP/1.1.
 * @throws ListenError where the address cannot be had
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const server = createServer({
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: options.headersTimeoutMs,
    requestTimeout: options.requestTimeoutMs ?? 300_000,
    keepAliveTimeout: options.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1000, options.headersTimeoutMs / 2)),
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  // Node drops what is over its count without a word; the size bounds the count.
  server.maxHeadersCount = 0;
  server.on('connection', lingerOnClose);
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
    // Node loses what it has read behind a request for another protocol.
    if (incoming.headers.upgrade !== undefined) outgoing.shouldKeepAlive = false;
    const refused = fault ?? messageFault(incoming);
    if (refused !== undefined) return void refuseRequest(incoming, outgoing, answerOf(refused));
    if (hasBodyForNothing(incoming)) drainRefused(incoming, outgoing);
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
 * Whether a body comes with a GET or HEAD, where it means nothing (RFC 9110, section 9.3.1) and no handler reads it; Node
 * would read it away without a bound.
 */
function hasBodyForNothing({ method, headers }: IncomingMessage): boolean {
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

/** A host that the framework takes as it is; any other one it reads, and may refuse. */
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
    // The last answer is out, and the client is about to read it.
    if (!socket.writable) return;
    // The broken body is that of a request that has its answer: a second one would be taken for that of the next.
    if (open.length === 0 && connections.lastIsUnread(socket)) return socket.destroySoon();
    const last = open.at(-1);
    if (last === undefined) return refuseConnection(socket, answerOf(fault));
    if (last.incoming.complete) return endAfterAnswers(socket, last.outgoing);
    // The body of a request broke. Its handler learns that from the stream; the client can be told only before it was.
    const before = open.at(-2);
    if (before !== undefined) return endAfterAnswers(socket, before.outgoing);
    if (last.outgoing.headersSent) return void socket.destroy();
    refuseConnection(socket, answerOf(fault));
  });

  server.on('connect', (_incoming, stream) => {
    const socket = stream as Socket;
    const last = connections.inFlight(socket).at(-1);
    if (last === undefined) return refuseConnection(socket, answerOf('bad_request'));
    // Node takes its own listener away from a connection that it hands out; a reset would end the process.
    socket.on('error', () => undefined);
    endAfterAnswers(socket, last.outgoing);
  });
}

/** Good requests came before the bad one: they get their answers, in order, and nothing after them is read. */
function endAfterAnswers(socket: Socket, last: ServerResponse): void {
  socket.pause();
  if (!last.headersSent) {
    last.shouldKeepAlive = false;
    return;
  }
  last.once('close', () => socket.destroySoon());
}
