import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from '#kit/env/config-error';
import type { TokenFile } from '#kit/http/token-file';
import { SearchUnavailableError } from '../../search-error.ts';

/** Longest waits for an answer, milliseconds, unless a request names its own. */
export const connectionLimits = { answerMs: 5_000, writeMs: 60_000 } as const;

type ConnectionOptions = {
  /** Addresses of the nodes, at least one. A request is sent to one node; a node that does not answer is skipped. */
  readonly nodes: readonly URL[];
  /** PEM file of the authorities that signed the certificates of the nodes; when absent, those of the system. */
  readonly caFile?: string;
  /** The user and the file of the password, read again when it changes. */
  readonly credential?: { readonly user: string; readonly passwordFile: Pick<TokenFile, 'first'> };
  /** Longest wait for the answer to a query, milliseconds; 5,000 when absent. */
  readonly timeoutMs?: number;
};

type ServerRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD';
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | boolean>>;
  /** An object, or lines of JSON for a bulk request or several searches. */
  readonly body?: Readonly<Record<string, unknown>> | string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Whether status 429 is returned as an answer: the sender then repeats the request. */
  readonly busyIsAnswer?: boolean;
};

/** An answer of the server with any status; its body is parsed JSON of unknown shape. */
type ServerAnswer = { readonly status: number; readonly body: unknown };

export type Connection = AsyncDisposable & {
  /**
   * Sends a request once.
   * @throws SearchUnavailableError if no node answers, or refuses the password or the rights, takes no writes, fails,
   * or is busy and 429 is not requested; the reason of the signal
   */
  ask(request: ServerRequest): Promise<ServerAnswer>;
};

/** Opens connections to OpenSearch; the first one is made with the first request. @throws ConfigError */
export async function connectOpenSearch(options: ConnectionOptions): Promise<Connection> {
  checkOptions(options);
  // Imported on demand: an installation with the embedded index does not use the package, which is slow to load.
  const { Client, errors } = await import('@opensearch-project/opensearch');
  const client = new Client({
    nodes: options.nodes.map((node) => node.href.replace(/\/$/, '')),
    maxRetries: 0,
    ...(options.caFile === undefined ? {} : { ssl: { ca: readFileSync(options.caFile, 'utf8') } }),
  });
  let isClosed = false;
  return {
    async ask({ method, path, parameters = {}, body, timeoutMs, signal, busyIsAnswer = false }) {
      signal?.throwIfAborted();
      // The package never answers a request to a closed client.
      if (isClosed) throw unreachable('the connection is closed');
      const headers = headersFor(options);
      const content = typeof body === 'string' ? { bulkBody: body } : body === undefined ? {} : { body };
      const pending = client.transport.request(
        { method, path, querystring: { ...parameters }, ...content },
        { maxRetries: 0, requestTimeout: timeoutMs ?? options.timeoutMs ?? connectionLimits.answerMs, headers },
      );
      const abort = (): void => pending.abort();
      signal?.addEventListener('abort', abort, { once: true });
      try {
        const { statusCode, body: answered } = await pending;
        return { status: statusCode ?? 0, body: answered };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof errors.ResponseError)) throw noAnswer(error);
        const status = error.statusCode;
        if (refusesWrites(error.body)) throw new SearchUnavailableError('read_only');
        if (status === 401 || status === 403) throw new SearchUnavailableError('unauthorized');
        if (isRefusal(status) && !(status === 429 && busyIsAnswer)) throw unreachable(`status ${status}`);
        return { status, body: error.body };
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      await client.close();
    },
  };
}

/** The cause names no address, no text of a request and no text of the server. */
function unreachable(reason: string): SearchUnavailableError {
  return new SearchUnavailableError('unreachable', new Error(`OpenSearch: ${reason}`));
}

/** After a failed handshake the package keeps only the message, which names the fault of the certificate. */
function noAnswer(error: unknown): SearchUnavailableError {
  if (!(error instanceof Error)) return unreachable('error');
  return /certificate/i.test(error.message) ? new SearchUnavailableError('untrusted') : unreachable(error.name);
}

const refusal = z.object({
  error: z.object({ type: z.string() }).optional(),
  failures: z.array(z.object({ cause: z.object({ type: z.string() }) })).optional(),
});

/**
 * The error of a request, or of a part of one, to an index that accepts no writes, for example above the flood stage of
 * the disk.
 */
export const blockedType = 'cluster_block_exception';

function refusesWrites(body: unknown): boolean {
  const { error, failures = [] } = refusal.safeParse(body).data ?? {};
  return error?.type === blockedType || failures.some(({ cause }) => cause.type === blockedType);
}

function isRefusal(status: number): boolean {
  return status === 429 || status >= 500;
}

function headersFor({ credential }: ConnectionOptions): Readonly<Record<string, string>> {
  if (credential === undefined) return {};
  try {
    const pair = `${credential.user}:${credential.passwordFile.first()}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  } catch (error) {
    // The file is being replaced, or was emptied: its error names the file only.
    throw new SearchUnavailableError('unreachable', error);
  }
}

function checkOptions({ nodes, caFile, credential }: ConnectionOptions): void {
  const isLocal = ({ hostname }: URL): boolean => ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
  const problems = [
    ...(nodes.length === 0 ? ['the list of OpenSearch nodes is empty: name at least one'] : []),
    ...nodes.flatMap((node) => {
      if (node.protocol !== 'http:' && node.protocol !== 'https:') return ['an OpenSearch node has no http address'];
      if (node.username !== '' || node.password !== '') {
        return ['the address of an OpenSearch node has a credential: write it into a file'];
      }
      const isOpen = credential !== undefined && node.protocol === 'http:' && !isLocal(node);
      return isOpen ? [`the password would go to ${node.host} without encryption: use https`] : [];
    }),
  ];
  if (caFile !== undefined) {
    try {
      readFileSync(caFile);
    } catch {
      problems.push(`the certificates of OpenSearch cannot be read: ${caFile}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
}
