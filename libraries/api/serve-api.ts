import { setTimeout as pause } from 'node:timers/promises';
import type { ListenAddress } from '#kit/env/service-settings';
import { listen } from '#kit/http/listen';
import { observeTls } from '#kit/http/observe-tls';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Spans } from '#kit/trace/span';
import { createApi } from './create-api.ts';
import type { ApiTable, Authorizer, RefusedRequest } from './operation.ts';
import { createRequestLines } from './request-lines.ts';
import type { RequestMetrics } from './request-metrics.ts';

type ServedApi<Service, Caller, Code extends string, Name extends string> = {
  readonly listen: ListenAddress;
  readonly table: ApiTable<Service, Caller, Code, Name>;
  readonly service: Service;
  readonly authorizer: Authorizer<Caller, Code>;
  /** The code for an error that an operation throws; undefined for an error of the program. */
  readonly errorOf: (error: unknown) => Code | undefined;
  /** Called with every error that an operation throws. */
  readonly onError?: (error: unknown) => void;
  /** Called before an operation answers with an error. The returned promise must not reject. */
  readonly onRefused?: (refused: RefusedRequest<Caller, Code, Name>) => Promise<void>;
  /**
   * How much later refusals for identity or rate are answered while they are so frequent that they are not logged one
   * by one, milliseconds; absent for no delay. The delay limits the load of a client that repeats such requests at full
   * speed.
   */
  readonly slowRefusalMs?: number;
  readonly logger: Logger;
  readonly metrics?: Pick<RequestMetrics<Name, Code>, 'ended' | 'tls'>;
  /** Receives a span of each operation; absent for a service that records no spans. */
  readonly spans?: Spans;
  /** JSON documents by path, served without authentication. */
  readonly documents?: Readonly<Record<string, unknown>>;
};

/** How long requests in flight may take during a shutdown, milliseconds. */
const drainMs = 15_000;
/** How long clients may still send requests on open connections during a shutdown, milliseconds. */
const idleMs = 2_000;

/** Refusals that a client without an identity or beyond its limits can cause at any rate. */
const sampledStatuses: readonly number[] = [401, 429];

/**
 * Serves a table over HTTP and writes the log events and metrics that every service has. Disposing finishes the requests in
 * flight; the caller withdraws readiness before.
 * @throws ListenError when the address is not available, TlsPairError when its certificate cannot be served
 */
export async function serveApi<Service, Caller, Code extends string, Name extends string>(
  options: ServedApi<Service, Caller, Code, Name>,
): Promise<AsyncDisposable & { readonly url: string }> {
  const { table, service, authorizer, errorOf, onError, onRefused, logger, metrics, spans, documents = {} } = options;
  const { slowRefusalMs = 0 } = options;
  const lines = createRequestLines(
    logger,
    (code) => code !== 'none' && sampledStatuses.includes(table.errors[code as Code].status),
  );
  const api = createApi({
    table,
    service,
    authorizer,
    spans,
    errorOf(error, traceId) {
      const code = errorOf(error);
      onError?.(error);
      if (code !== undefined) {
        logger.warn('dependency_failed', { code, traceId, failure: describeFailure(error) });
      }
      return code;
    },
    onEnded(ended) {
      metrics?.ended(ended.operation, ended.code, ended.seconds);
      lines.ended(ended);
    },
    async onRefused(refused) {
      await onRefused?.(refused);
      if (slowRefusalMs > 0 && lines.isFull(refused.code)) await pause(slowRefusalMs);
    },
    onInternalError: (operation, error, traceId) =>
      logger.error('operation_failed', { operation, traceId, failure: describeFailure(error) }),
    documents: Object.fromEntries(
      Object.entries(documents).map(([path, document]) => [path, Buffer.from(JSON.stringify(document))]),
    ),
  });
  const server = await listen({
    ...options.listen,
    tls: observeTls(options.listen.tls, { logger, metrics: metrics?.tls }),
    ...api,
    headersTimeoutMs: 10_000,
    keepAliveTimeoutMs: 65_000,
    maxHeaderBytes: 32_768,
    onHandlerError: () => logger.error('handler_failed', {}),
  });
  return {
    url: server.url,
    async [Symbol.asyncDispose]() {
      await server.drain({ graceMs: drainMs, idleMs });
      lines[Symbol.dispose]();
    },
  };
}
