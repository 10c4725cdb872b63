import { buildConnector, type Dispatcher, Pool } from 'undici';
import { withTimeout } from '#kit/concurrency/abort';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import type { ClusterAccess, Credentials, Renewable } from './cluster-access.ts';
import { KubeError } from './kube-error.ts';
import { statusToError } from './status-object.ts';

/**
 * Maximum number of connections to one server, including watches; further requests wait in the order of their arrival.
 */
export const defaultMaxSockets = 48;
/** Share of the connections that watches may use, one connection each; the others are left for requests. */
const streamShare = 2 / 3;
/**
 * This time is shorter than the idle timeout of API servers, so that a request never uses a connection that the server
 * closes.
 */
const idleSocketMs = 30_000;
/** Least time between two replacements of the pool, so that a slow server is not flooded with new connections. */
const replacePoolEveryMs = 15_000;
/** Name of this client in the audit log of the server. */
const userAgent = 'portcullis';
/** Largest body of an error response, a Status object. */
const maxErrorBytes = 1_048_576;
/** Largest body of a response; pages of a list are far smaller. */
const maxResponseBytes = 268_435_456;

type KubeRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Media type of the response; plain JSON when absent. */
  readonly accept?: string;
  /** Timeout of the whole request and response, milliseconds. */
  readonly timeoutMs: number;
  /** Longest wait for the headers of a stream, milliseconds; `timeoutMs` when absent. */
  readonly connectTimeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
};

/** A finished request, for metrics; without path, name or token. */
export type RequestReport = {
  readonly method: KubeRequest['method'];
  /** The HTTP status as text, or `error` if there was no response. */
  readonly status: string;
  /** Host and port of the server. */
  readonly host: string;
  readonly seconds: number;
};

/** A connection pool to one server: every request has a timeout, every failure is a KubeError. */
export type KubeConnection = AsyncDisposable & {
  /** Sends a request and reads the JSON response. */
  send(request: KubeRequest): Promise<unknown>;
  /** Sends a request and yields the response body as it arrives; the timeout covers all of it. */
  stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void>;
};

type KubeConnectionOptions = Omit<ClusterAccess, 'namespace'> & {
  /** Maximum number of connections; 48 when absent. */
  readonly maxSockets?: number | undefined;
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
};

/** Opens the pool without sending a request. A path in `url` is a prefix of every path (API servers behind a proxy). */
export function openConnection(options: KubeConnectionOptions): KubeConnection {
  const { maxSockets = defaultMaxSockets } = options;
  const maxStreams = Math.floor(maxSockets * streamShare);
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/+$/, '');
  const openPool = (): Pool =>
    new Pool(base.origin, {
      connect: connectorOf(options),
      connections: maxSockets,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: idleSocketMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: -1,
    });
  let pool = openPool();
  let replacedAt = Number.NEGATIVE_INFINITY;
  let streams = 0;

  /**
   * When a server or network disappears without a TCP reset, the other open connections are dead as well, and the next
   * request would use one of them and wait for its timeout.
   */
  function replacePool(): void {
    if (performance.now() - replacedAt < replacePoolEveryMs) return;
    const old = pool;
    pool = openPool();
    replacedAt = performance.now();
    void old.destroy();
  }

  async function open(request: KubeRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const started = performance.now();
    let status = 'error';
    try {
      const authorization = await authorizationOf(options.credentials, signal);
      const answer = await pool.request({
        method: request.method,
        path: prefix + request.path + queryText(request.query),
        headers: {
          accept: request.accept ?? 'application/json',
          'user-agent': userAgent,
          ...(authorization === undefined ? {} : { authorization }),
          ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      });
      status = String(answer.statusCode);
      if (answer.statusCode === 401) options.credentials.rejected?.();
      return answer;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      options.onRequest?.({ method: request.method, status, host: base.host, seconds });
    }
  }

  async function send(request: KubeRequest): Promise<unknown> {
    using deadline = withTimeout(request.signal, request.timeoutMs);
    try {
      const answer = await open(request, deadline.signal);
      if (answer.statusCode >= 300) throw await errorOf(answer);
      return parseResponse(await readBounded(answer, maxResponseBytes));
    } catch (error) {
      if (deadline.timedOut()) replacePool();
      throw networkError(error, request, deadline.timedOut());
    }
  }

  async function* stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void> {
    if (streams >= maxStreams) throw new KubeError('unavailable', `more than ${maxStreams} watches at the same time`);
    streams += 1;
    using deadline = withTimeout(request.signal, request.timeoutMs);
    const connectMs = request.connectTimeoutMs ?? request.timeoutMs;
    using connecting = withTimeout(deadline.signal, connectMs);
    // The body ends with the deadline, not with the time to connect.
    const ended = new AbortController();
    const end = (): void => ended.abort(connecting.signal.reason);
    connecting.signal.addEventListener('abort', end, { once: true });
    try {
      const answer = await open(request, AbortSignal.any([deadline.signal, ended.signal]));
      connecting.signal.removeEventListener('abort', end);
      if (answer.statusCode >= 300) throw await errorOf(answer);
      yield* answer.body;
    } catch (error) {
      const isLate = deadline.timedOut() || (ended.signal.aborted && connecting.timedOut());
      if (isLate) replacePool();
      throw networkError(
        error,
        { ...request, timeoutMs: ended.signal.aborted ? connectMs : request.timeoutMs },
        isLate,
      );
    } finally {
      streams -= 1;
    }
  }

  return { send, stream, [Symbol.asyncDispose]: () => pool.destroy() };
}

/** CA and client certificates are read for each connection, because they may be rotated. */
function connectorOf(options: KubeConnectionOptions): buildConnector.connector {
  return (target, callback) => {
    try {
      const { caPem, serverName, clientCertificate } = options;
      const { cert, key } = current(clientCertificate) ?? {};
      const ca = current(caPem);
      const connect = buildConnector({
        allowH2: false,
        timeout: 5_000,
        maxCachedSessions: 0,
        ...(ca === undefined ? {} : { ca }),
        ...(serverName === undefined ? {} : { servername: serverName }),
        ...(cert === undefined || key === undefined ? {} : { cert, key }),
      });
      connect(target, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new TypeError('no connection can be made'), null);
    }
  };
}

function current<T extends string | object | undefined>(value: Renewable<T>): T {
  return typeof value === 'function' ? value() : value;
}

/** Fails before anything is sent when the credentials cannot be read; aborting the signal ends a hanging plugin. */
async function authorizationOf(credentials: Credentials, signal: AbortSignal): Promise<string | undefined> {
  const abandoned = Promise.withResolvers<never>();
  const onAbort = (): void => abandoned.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([credentials.authorization(), abandoned.promise]);
  } catch (cause) {
    if (signal.aborted) throw cause;
    const message = cause instanceof Error ? cause.message : 'the credentials cannot be read';
    throw new KubeError('unauthenticated', message, {}, { cause });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function errorOf(answer: Dispatcher.ResponseData): Promise<KubeError> {
  const bytes = await readBounded(answer, maxErrorBytes);
  return statusToError(answer.statusCode, jsonOrUndefined(bytes), retryAfter(answer.headers['retry-after']));
}

async function readBounded(answer: Dispatcher.ResponseData, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new KubeError('unavailable', `the response of the API server exceeds ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function parseResponse(bytes: Buffer): unknown {
  const value = jsonOrUndefined(bytes);
  if (value === undefined) throw new KubeError('unavailable', 'the response of the API server is not JSON');
  return value;
}

/** Retry-After in whole seconds (RFC 9110, section 10.2.3); API servers do not send the date form. */
function retryAfter(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  return text !== undefined && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}

function networkError(error: unknown, request: KubeRequest, timedOut: boolean): KubeError {
  if (error instanceof KubeError) return error;
  const reason = timedOut ? `no complete response within ${request.timeoutMs} ms` : systemCode(error);
  return new KubeError('network', `${request.method} to the API server: ${reason}`, {}, { cause: error });
}

function systemCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'the connection was closed';
}

function queryText(query: KubeRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, value);
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
