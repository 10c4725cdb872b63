import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type ConnectionCall,
  type ConnectionErrorCode,
  connectionCallSchema,
  connectionErrors,
  connectionNameSchema,
  connectionsPath,
  flowConnectionLimits,
} from '#contracts/connections';
import { withTimeout } from '#kit/concurrency/abort';
import { sendJson } from '#kit/http/json-answer';
import { headerValues } from '#kit/http/raw-headers';
import { drainRefused, readBody } from '#kit/http/read-body';
import { openTrace, type TraceContext } from '#kit/http/trace-context';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Spans } from '#kit/trace/span';
import { beginRequest, Interruption } from '../../relay/interruption.ts';
import type { ImageSlots } from '../calls/image-slots.ts';
import type { ConnectionMetrics } from '../metrics/connection-metrics.ts';
import { admitConnectionCall, type ConnectionAdmission } from './admit-connection-call.ts';
import { callHttpService } from './call-http-service.ts';
import { callMcpServer } from './call-mcp-server.ts';
import { ConnectionError } from './connection-error.ts';
import type { OpenConnection } from './open-connections.ts';

export type ConnectionParts = ConnectionAdmission & {
  /** Bodies of calls that have not arrived yet, by connection and agent. */
  readonly arriving: Pick<ImageSlots, 'take'>;
  readonly connectionMetrics: ConnectionMetrics;
  readonly spans: Spans;
  readonly logger: Logger;
  readonly shutdown: AbortSignal;
  readonly maxBodyMs: number;
};

/** Longest request, milliseconds; the call itself ends earlier, at the timeout of its connection. */
const maxRequestMs = flowConnectionLimits.timeoutMs.max + 30_000;
const jsonType = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;
const noStore = { 'cache-control': 'no-store' } as const;

/** POST /connections/{name}: calls a connection for a run of an agent. Never rejects. */
export async function serveConnection(
  parts: ConnectionParts,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const trace = openTrace(incoming.headers['traceparent'], parts.spans.isRecording);
  const endSpan = parts.spans.begin(trace, { name: 'gateway connection call', kind: 'server' });
  using life = beginRequest(parts.shutdown, maxRequestMs);
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) life.interrupt('client_gone');
  });
  const facts = { connection: '' };
  let code: ConnectionErrorCode | 'none' = 'none';
  try {
    const answer = await answerCall(parts, incoming, { signal: life.signal, facts });
    sendJson(outgoing, 200, answer, { ...noStore, traceparent: trace.traceparent });
  } catch (thrown) {
    code = faultOf(parts, thrown, life.signal).code;
    refuse(incoming, outgoing, { code, trace });
  }
  const seconds = (performance.now() - started) / 1_000;
  const attributes = { 'portcullis.connection.name': facts.connection, 'portcullis.code': code };
  endSpan({ attributes, failed: code !== 'none' });
  parts.connectionMetrics.ended({ ...facts, code, seconds });
  parts.logger.info('connection_call_ended', {
    traceId: trace.traceId,
    ...facts,
    code,
    durationMs: Math.round(seconds * 1_000),
  });
}

type Answering = { readonly signal: AbortSignal; readonly facts: { connection: string } };

async function answerCall(
  parts: ConnectionParts,
  incoming: IncomingMessage,
  { signal, facts }: Answering,
): Promise<object> {
  if (incoming.method !== 'POST') throw new ConnectionError('method_not_allowed');
  const name = nameIn(incoming.url ?? '');
  const { open, agentId } = await admitConnectionCall(parts, name, incoming.rawHeaders);
  facts.connection = name;
  const [type = '', ...more] = headerValues(incoming.rawHeaders, 'content-type');
  if (more.length > 0 || !jsonType.test(type.trim())) throw new ConnectionError('content_type_not_supported');
  using time = withTimeout(signal, open.connection.timeoutMs);
  try {
    const call = await receiveCall(parts, incoming, { open, agentId, signal: time.signal });
    using begun = open.begin();
    if (begun === undefined) throw new ConnectionError('too_many_calls');
    return await sendCall(open, call, time.signal);
  } catch (error) {
    if (time.timedOut() && !(error instanceof ConnectionError)) throw new ConnectionError('deadline_exceeded');
    throw error;
  }
}

/** The name in the path; a request of another form gets the answer for a token of another audience. */
function nameIn(url: string): string {
  try {
    const name = connectionNameSchema.safeParse(decodeURIComponent(url.slice(connectionsPath.length)));
    if (name.success) return name.data;
  } catch {
    // A malformed escape is no name.
  }
  throw new ConnectionError('unauthenticated');
}

type Receiving = {
  readonly open: OpenConnection;
  /** The agent of the run that calls. */
  readonly agentId: string;
  readonly signal: AbortSignal;
};

/**
 * Reads the body of a call. The number of bodies that an agent may send at a time is limited, so that slow bodies do
 * not take the memory of the gateway or the places of calls of other agents.
 * @throws ConnectionError
 */
async function receiveCall(
  { arriving, maxBodyMs }: Pick<ConnectionParts, 'arriving' | 'maxBodyMs'>,
  incoming: IncomingMessage,
  { open: { connection }, agentId, signal }: Receiving,
): Promise<ConnectionCall> {
  using place = arriving.take(JSON.stringify([connection.name, agentId]), connection.maxConcurrency);
  if (place === undefined) throw new ConnectionError('too_many_calls');
  using time = withTimeout(signal, maxBodyMs);
  const body = await readBody(incoming, { limit: flowConnectionLimits.requestBytes, signal: time.signal });
  if (!body.ok) {
    signal.throwIfAborted();
    throw new ConnectionError(body.fault === 'too_large' ? 'request_too_large' : 'invalid_request');
  }
  try {
    const call = connectionCallSchema.safeParse(parseStrict(body.bytes));
    if (call.success) return call.data;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
  }
  throw new ConnectionError('invalid_request');
}

async function sendCall(open: OpenConnection, call: ConnectionCall, signal: AbortSignal): Promise<object> {
  const { connection, dispatcher } = open;
  const { maxAnswerBytes } = connection;
  const link = { dispatcher, credential: open.credential(), maxAnswerBytes, signal };
  if (connection.kind === 'http' && 'path' in call) return await callHttpService(connection, call, link);
  if (connection.kind === 'mcp' && 'tool' in call) return await callMcpServer(connection, call, link);
  throw new ConnectionError('invalid_request');
}

function faultOf({ logger }: ConnectionParts, thrown: unknown, signal: AbortSignal): ConnectionError {
  if (thrown instanceof ConnectionError) return thrown;
  const reason = signal.aborted && thrown === signal.reason ? signal.reason : thrown;
  if (reason instanceof Interruption) {
    if (reason.code === 'client_gone') return new ConnectionError('cancelled');
    return new ConnectionError(reason.code === 'too_long' ? 'deadline_exceeded' : 'shutting_down');
  }
  logger.error('connection_call_failed', { failure: describeFailure(thrown) });
  return new ConnectionError('internal');
}

type Refused = { readonly code: ConnectionErrorCode; readonly trace: TraceContext };

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, { code, trace }: Refused): void {
  if (outgoing.destroyed || code === 'cancelled') {
    outgoing.destroy();
    return;
  }
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const { status, meaning } = connectionErrors[code];
  sendJson(
    outgoing,
    status,
    { error: { code, message: meaning, traceId: trace.traceId } },
    {
      ...noStore,
      traceparent: trace.traceparent,
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 405 ? { allow: 'POST' } : {}),
      ...(status === 503 ? { 'retry-after': '1' } : {}),
    },
  );
}
