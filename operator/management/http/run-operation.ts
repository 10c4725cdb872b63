import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import { sendJson } from '#kit/http/json-answer';
import { drainRefused } from '#kit/http/read-body';
import { describeFailure } from '#kit/log/describe-failure';
import { KubeError } from '#kube/client/kube-error';
import type { OperationName } from '../metrics.ts';
import { RecordsUnavailableError } from '../operations/ports.ts';
import type { Exchange, Management } from './exchange.ts';
import { isKnownQuery } from './page-query.ts';
import { errorBody, type Reply, refuse } from './reply.ts';
import { openTrace, type Trace } from './trace.ts';

export type RouteOperation = {
  readonly name: OperationName;
  /** Names of its query parameters; any other one is refused. */
  readonly query: readonly string[];
  readonly run: (exchange: Exchange) => Promise<Reply> | Reply;
};

/** Runs one operation: who asks, whether they may, its own gates, its answer, its metrics and its log line. */
export async function runOperation(
  management: Management,
  operation: RouteOperation,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  path: Readonly<Record<string, string>>,
): Promise<void> {
  const started = performance.now();
  const trace = openTrace(incoming.headers['traceparent']);
  const reply = await answerTo(management, operation, { incoming, outgoing, path, traceId: trace.traceId });
  sendReply(incoming, outgoing, trace, reply);
  const seconds = (performance.now() - started) / 1_000;
  const code = reply.kind === 'refusal' ? reply.code : 'none';
  management.metrics.ended(operation.name, code, seconds);
  management.logger.info('request_ended', {
    operation: operation.name,
    code,
    traceId: trace.traceId,
    durationMs: Math.round(seconds * 1_000),
  });
}

async function answerTo(
  management: Management,
  operation: RouteOperation,
  request: Pick<Exchange, 'incoming' | 'outgoing' | 'path' | 'traceId'>,
): Promise<Reply> {
  try {
    const admitted = await management.access.admit(request.incoming.rawHeaders);
    if (!admitted.ok) return refuse(admitted.code);
    const query = new URL(request.incoming.url ?? '/', 'http://management').searchParams;
    if (!isKnownQuery(query, operation.query)) return refuse('invalid_query');
    return await operation.run({ management, ...request, query, subject: admitted.subject });
  } catch (error) {
    if (error instanceof KubeError) return refuse('resources_unavailable');
    if (error instanceof RecordsUnavailableError) return refuse('records_unavailable');
    management.logger.error('operation_failed', { operation: operation.name, failure: describeFailure(error) });
    return refuse('internal');
  }
}

export function sendReply(incoming: IncomingMessage, outgoing: ServerResponse, trace: Trace, reply: Reply): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const headers = { traceparent: trace.traceparent, 'cache-control': 'no-store' };
  if (reply.kind === 'answer') {
    sendJson(outgoing, reply.status, reply.body, { ...headers, ...reply.headers });
    return;
  }
  const { status } = managementErrors[reply.code];
  const body = errorBody(reply.code, trace.traceId, reply.details);
  sendJson(outgoing, status, body, { ...headers, ...hintsOf(reply.code) });
}

/** What a client does next, as headers say it. */
function hintsOf(code: ManagementErrorCode): Readonly<Record<string, string>> {
  const { status } = managementErrors[code];
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status === 503 || code === 'idempotency_in_progress') return { 'retry-after': '1' };
  return {};
}
