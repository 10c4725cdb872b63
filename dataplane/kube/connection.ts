import { type Dispatcher, Pool } from 'undici';
import { withTimeout } from '#kit/concurrency/abort';
import type { Credentials } from './credentials.ts';
import { KubeError } from './kube-error.ts';
import { refusalToError } from './status-object.ts';

/** Sockets to one server, watches included. */
const maxSockets = 16;
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
  /** Milliseconds for the whole request and its answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** What an observer learns of each finished request; never a path, a name or a token. */
export type RequestReport = {
  readonly method: KubeRequest['method'];
  /** HTTP status as text, or `error` when no answer came. */
  readonly status: string;
  readonly seconds: number;
};

/** One pool to one server: every request bounded, every failure a KubeError. */
export type Connection = AsyncDisposable & {
  /** Sends a request and reads the JSON answer. */
  send(request: KubeRequest): Promise<unknown>;
  /** Sends a request and hands out the answer as it comes; the deadline covers the whole of it. */
  stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void>;
};

export type ConnectionOptions = {
  readonly url: string;
  readonly credentials: Credentials;
  readonly onRequest?: ((report: RequestReport) => void) | undefined;
};

/** Opens the pool; nothing is sent yet. A path in `url` stands before every path (API servers behind a proxy). */
export function openConnection(options: ConnectionOptions): Connection {
  const base = new URL(options.url);
  const prefix = base.pathname.replace(/\/+$/, '');
  const pool = new Pool(base.origin, {
    connections: maxSockets,
    pipelining: 1,
    allowH2: false,
    connectTimeout: 5_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: -1,
  });

  async function open(request: KubeRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const started = performance.now();
    let status = 'error';
    try {
      const answer = await pool.request({
        method: request.method,
        path: prefix + request.path + queryText(request.query),
        headers: {
          accept: 'application/json',
          authorization: authorization(options.credentials),
          ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal,
      });
      status = String(answer.statusCode);
      return answer;
    } finally {
      options.onRequest?.({ method: request.method, status, seconds: (performance.now() - started) / 1000 });
    }
  }

  async function send(request: KubeRequest): Promise<unknown> {
    using deadline = withTimeout(request.signal, request.timeoutMs);
    try {
      const answer = await open(request, deadline.signal);
      if (answer.statusCode >= 300) throw await refusal(answer);
      return parseAnswer(await readBounded(answer, maxAnswerBytes));
    } catch (error) {
      throw networkError(error, request, deadline.timedOut());
    }
  }

  async function* stream(request: KubeRequest): AsyncGenerator<Uint8Array, void, void> {
    using deadline = withTimeout(request.signal, request.timeoutMs);
    try {
      const answer = await open(request, deadline.signal);
      if (answer.statusCode >= 300) throw await refusal(answer);
      yield* answer.body;
    } catch (error) {
      throw networkError(error, request, deadline.timedOut());
    }
  }

  return { send, stream, [Symbol.asyncDispose]: () => pool.destroy() };
}

/** Without a token nothing is sent. */
function authorization(credentials: Credentials): string {
  try {
    return credentials.authorization();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'the credentials cannot be read';
    throw new KubeError('unauthenticated', why, {}, { cause });
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
