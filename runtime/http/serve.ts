import type { CheckErrorCode } from '#contracts/checks';
import { type FaultAnswer, type Listening, listen } from '#kit/http/listen';
import { traceIdOf } from '#kit/http/trace-context';
import { createDirectChecks, createRuntimeApp } from './app.ts';
import { errorBody } from './error-answer.ts';
import type { RuntimeService } from './runtime-service.ts';

const headersTimeoutMs = 10_000;
/** This timeout is longer than the idle timeout of clients, so that no connection is closed while a request arrives. */
const keepAliveTimeoutMs = 65_000;
/** Gateways keep connections open as long as possible; this limit moves checks to processes that started later. */
const connectionAgeMs = 60_000;
const maxHeaderBytes = 16_384;

/** The answer to bytes that Node cannot parse as a request: 400 `invalid_json`, then the connection closes. */
const unreadable: CheckErrorCode = 'invalid_json';

/**
 * Serves the interface over HTTP/1.1.
 * @throws ListenError if the address is not available
 */
export function serve(
  address: { readonly host: string; readonly port: number },
  service: RuntimeService,
): Promise<Listening> {
  const app = createRuntimeApp(service);
  return listen({
    fetch: (request, env) => app.fetch(request, env),
    direct: createDirectChecks(service),
    ...address,
    clientError: unreadableRequest,
    onContinue: 'when_read',
    onHandlerError: (error) => {
      service.logger.error('request_failed', { error: error instanceof Error ? error.name : typeof error });
    },
    headersTimeoutMs,
    keepAliveTimeoutMs,
    connectionAgeMs,
    maxHeaderBytes,
  });
}

function unreadableRequest(): FaultAnswer {
  return {
    status: 400,
    contentType: 'application/json',
    body: JSON.stringify(errorBody(unreadable, traceIdOf(undefined))),
  };
}
