import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentErrors } from '#contracts/agent-errors';
import { type RunAmounts, runUsageHeader, writeRunUsage } from '#contracts/run-usage';
import { type ByteBudget, createByteBudget, type TakenBytes } from '#kit/http/byte-budget';
import { sendBytes, sendJson } from '#kit/http/json-answer';
import { headerValues } from '#kit/http/raw-headers';
import { declaredLength, drainRefused, readBody } from '#kit/http/read-body';
import type { TraceContext } from '#kit/http/trace-context';
import { JsonError, type JsonValue, mostValuesOf, parseStrict } from '#kit/json/parse-strict';
import { a2aErrorBody } from '../a2a/error-body.ts';
import { AgentError } from '../calls/agent-error.ts';

/** One HTTP request and its response. */
export type Exchange = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly trace: TraceContext;
  readonly url: URL;
};

/** Timeout for receiving a request, milliseconds. */
const receiveMs = 30_000;
const jsonTypes = /^application\/(?:a2a\+)?json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/**
 * Checks the media type of a request with a body (`agents:order:content-type`).
 * @throws AgentError content_type_not_supported
 */
export function checkContentType({ incoming }: Exchange): void {
  const [type, ...more] = headerValues(incoming.rawHeaders, 'content-type');
  const isJson = type !== undefined && more.length === 0 && jsonTypes.test(type.trim());
  const isCoded = headerValues(incoming.rawHeaders, 'content-encoding').length > 0;
  if (!isJson || isCoded) throw new AgentError('content_type_not_supported');
}

/** The first bytes of a body that do not count in the budget: small requests are read while large ones wait. */
const freeBytes = 65_536;

/** The budget of the bodies that have arrived and whose calls have no place of a run yet. */
export function createBodyBudget(requestBytes: number): ByteBudget {
  return createByteBudget({
    limit: Math.max(bodyBytes, 2 * requestBytes),
    largest: requestBytes,
    waitMs: receiveMs / 2,
  });
}

/** Bytes of all bodies above that size together; one body may have at most half of them. */
const bodyBytes = 32 * 1_048_576;

/**
 * Maximum number of values of a body, where an empty list or object counts as two: a value takes many times its encoded
 * size in memory.
 */
const mostValues = 100_000;

/**
 * Reads the body of a request (`agents:order:size-limit`).
 * @param held the bytes of the request in the budget of the process
 * @throws AgentError request_too_large, request_timeout, too_many_runs
 */
export async function receive({ incoming }: Exchange, limit: number, held: Pick<TakenBytes, 'take'>): Promise<Buffer> {
  if ((declaredLength(incoming.rawHeaders) ?? 0) > limit) throw new AgentError('request_too_large');
  let received = 0;
  const hold = (bytes: number): boolean | Promise<boolean> => {
    const before = Math.max(received, freeBytes);
    received += bytes;
    return received > before ? held.take(received - before) : true;
  };
  const body = await readBody(incoming, { limit, ms: receiveMs, hold });
  if (body.ok) {
    if (mostValuesOf(body.bytes) > mostValues) throw new AgentError('request_too_large');
    return body.bytes;
  }
  if (body.fault === 'refused') throw new AgentError('too_many_runs');
  throw new AgentError(body.fault === 'too_large' ? 'request_too_large' : 'request_timeout');
}

/** @throws AgentError invalid_request if the bytes are not strict JSON */
export function readJsonBytes(bytes: Buffer): JsonValue {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw new AgentError('invalid_request');
    throw error;
  }
}

/** A signal that aborts when the client disconnects before its answer is complete, even if that has happened already. */
export function watchDeparture(exchange: Exchange): AbortSignal {
  const controller = new AbortController();
  onDeparture(exchange, () => controller.abort());
  return controller.signal;
}

/**
 * Calls `depart` once when the client disconnects before its answer is complete; immediately if that has happened
 * already.
 */
export function onDeparture({ outgoing }: Exchange, depart: () => void): void {
  const onClose = (): void => {
    if (!outgoing.writableFinished) depart();
  };
  if (outgoing.destroyed) onClose();
  else outgoing.once('close', onClose);
}

export function answerHeaders({ trace }: Exchange): Readonly<Record<string, string>> {
  return { traceparent: trace.traceparent, 'cache-control': 'no-store' };
}

/** Reports the usage of the run to the caller, with every answer. */
export function noteUsage({ outgoing }: Exchange, used: RunAmounts): void {
  if (!outgoing.headersSent) outgoing.setHeader(runUsageHeader, writeRunUsage(used));
}

/** Answers with the media type of A2A 1.0.0, or with that of later revisions for a client that prefers it. */
export function answerA2a(exchange: Exchange, status: number, body: unknown): void {
  const { incoming, outgoing } = exchange;
  const type = (incoming.headers.accept ?? '').split(/[,;]/)[0]?.trim();
  const contentType = type === 'application/a2a+json' ? type : 'application/json';
  sendBytes(outgoing, status, contentType, Buffer.from(JSON.stringify(body)), answerHeaders(exchange));
}

/** Answers a refusal on a path of A2A (`agents:error:form`). */
export function refuseA2a(exchange: Exchange, error: AgentError): void {
  const { incoming, outgoing, trace } = exchange;
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const { status } = agentErrors[error.code];
  sendJson(outgoing, status, a2aErrorBody(error, trace.traceId), {
    ...answerHeaders(exchange),
    ...hintsOf(error),
  });
}

/** Answers a refusal outside of any protocol: application/problem+json (RFC 9457). */
export function refuseWithProblem(exchange: Exchange, error: AgentError, headers: Record<string, string> = {}): void {
  const { incoming, outgoing, trace } = exchange;
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const { status, meaning } = agentErrors[error.code];
  const body = { type: 'about:blank', title: meaning, status, code: error.code, traceId: trace.traceId };
  const own = { ...answerHeaders(exchange), ...hintsOf(error), ...headers };
  sendBytes(outgoing, status, 'application/problem+json', Buffer.from(JSON.stringify(body)), own);
}

function hintsOf({ code }: AgentError): Readonly<Record<string, string>> {
  const { status } = agentErrors[code];
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  // A run that has used its budget has acted: another call acts again, at the same cost.
  const mayPass = status === 503 || (status === 429 && code !== 'budget_exceeded');
  return mayPass ? { 'retry-after': '1' } : {};
}
