import { buildConnector, type Dispatcher, Pool } from 'undici';
import { withTimeout } from '#kit/concurrency/abort';
import type { ClusterAccess, Credentials, Renewable } from './cluster-access.ts';
import { KubeError } from './kube-error.ts';
import { refusalToError } from './status-object.ts';

/** Sockets to one server, watches included; requests over it wait in the order in which they came. */
export const defaultMaxSockets = 48;
/** Of the sockets, for watches at the same time: each has one of its own, and the rest is left for requests. */
const streamShare = 2 / 3;
/** API servers keep idle sockets for longer than this, so none is used that its server is about to close. */
const idleSocketMs = 30_000;
/** Sockets that do not answer are all given up at most this often: a server that is slow is not asked for more. */
const giveUpEveryMs = 15_000;
/** Who sends, for the audit log of the server. */
const userAgent = 'portcullis';
/** A body with a refusal is read up to here; it is a Status object. */
const maxRefusalBytes = 1_048_576;
/** The longest answer that is taken; the server pages lists well below it. */
const maxAnswerBytes = 268_435_456;

export type KubeRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  readonly contentType?: string;
  /** Media type of the answer; JSON of the kind itself when absent. */
  readonly accept?: string;
  /** Milliseconds for the whole request and its answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** What an observer learns of each finished request; never a path, a name or a token. */
export type RequestReport = {
  readonly method: KubeRequest['method'];
  /** HTTP status as text, or `error` when no answer came. */
  readonly status: string;
  /** Host and port of the server. */
  readonly host: string;
  readonly seconds: number;
};

/** One pool to one server: every request bounded, every failure a KubeError. */
export type Connection = AsyncDisposable & {
  /** Sends a request and reads the JSON answer. */
  send(request: KubeRequest): Promise<unknown>;
  /** Sends a request and hands out the answer as it comes; the deadline covers the whole of it. */
  stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void>;
};

export type ConnectionOptions = Omit<ClusterAccess, 'namespace'> & {
  /** At most; 48 when absent. */
  readonly maxSockets?: number | undefined;
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
};

/** Opens the pool; nothing is sent yet. A path in `url` stands before every path (API servers behind a proxy). */
export function openConnection(options: ConnectionOptions): Connection {
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
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  let streams = 0;

  /**
   * Where a server or a network went away without a word, no socket tells: the others that are open now are as silent
   * as the one that was waited for, and idle ones would be used next.
   */
  function giveUp(): void {
    if (performance.now() - gaveUpAt < giveUpEveryMs) return;
    const silent = pool;
    pool = openPool();
    gaveUpAt = performance.now();
    void silent.destroy();
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
      if (answer.statusCode === 401) options.credentials.refused?.();
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
      if (answer.statusCode >= 300) throw await refusal(answer);
      return parseAnswer(await readBounded(answer, maxAnswerBytes));
    } catch (error) {
      if (deadline.timedOut()) giveUp();
      throw networkError(error, request, deadline.timedOut());
    }
  }

  async function* stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void> {
    if (streams >= maxStreams) throw new KubeError('unavailable', `more than ${maxStreams} watches at the same time`);
    streams += 1;
    using deadline = withTimeout(request.signal, request.timeoutMs);
    try {
      const answer = await open(request, deadline.signal);
      if (answer.statusCode >= 300) throw await refusal(answer);
      yield* answer.body;
    } catch (error) {
      if (deadline.timedOut()) giveUp();
      throw networkError(error, request, deadline.timedOut());
    } finally {
      streams -= 1;
    }
  }

  return { send, stream, [Symbol.asyncDispose]: () => pool.destroy() };
}

/** What certificates are held against is read anew for each connection. */
function connectorOf(options: ConnectionOptions): buildConnector.connector {
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

/** Where credentials are wanted and cannot be had, nothing is sent. */
async function authorizationOf(credentials: Credentials, signal: AbortSignal): Promise<string | undefined> {
  const abandoned = Promise.withResolvers<never>();
  const onAbort = (): void => abandoned.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([credentials.authorization(), abandoned.promise]);
  } catch (cause) {
    if (signal.aborted) throw cause;
    const why = cause instanceof Error ? cause.message : 'the credentials cannot be read';
    throw new KubeError('unauthenticated', why, {}, { cause });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function refusal(answer: Dispatcher.ResponseData): Promise<KubeError> {
  const bytes = await readBounded(answer, maxRefusalBytes);
  return refusalToError(answer.statusCode, tryParse(bytes), retryAfter(answer.headers['retry-after']));
}

async function readBounded(answer: Dispatcher.ResponseData, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw new KubeError('unavailable', `the answer of the API server is over ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

function parseAnswer(bytes: Buffer): unknown {
  const value = tryParse(bytes);
  if (value === undefined) throw new KubeError('unavailable', 'the answer of the API server is not JSON');
  return value;
}

function tryParse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Retry-After in whole seconds (RFC 9110, section 10.2.3); API servers do not send the date form. */
function retryAfter(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : header?.[0];
  return text !== undefined && /^[0-9]{1,6}$/.test(text) ? Number(text) * 1000 : undefined;
}

function networkError(error: unknown, request: KubeRequest, timedOut: boolean): KubeError {
  if (error instanceof KubeError) return error;
  const why = timedOut ? `no whole answer within ${request.timeoutMs} ms` : systemCode(error);
  return new KubeError('network', `${request.method} to the API server: ${why}`, {}, { cause: error });
}

function systemCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'the connection ended';
}

function queryText(query: KubeRequest['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, value);
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
