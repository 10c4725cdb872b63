import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendBytes } from '#kit/http/json-answer';
import { drainRefused } from '#kit/http/read-body';
import { describeFailure } from '#kit/log/describe-failure';
import type { OperationName, OutcomeName } from '../metrics.ts';
import { type ClientError, plainError } from '../relay/client-error.ts';
import { beginRequest, Interruption, interruptionError } from '../relay/interruption.ts';
import { clientErrors, errorAnswer } from './errors.ts';
import { type Exchange, failed, type Gateway, type Reply } from './exchange.ts';

export type Operation = {
  readonly name: OperationName;
  readonly run: (exchange: Exchange) => Promise<Reply> | Reply;
};

/** Runs one operation from its first byte to its last: who may call, its answer, its metrics and its log line. */
export async function runOperation(
  gateway: Gateway,
  operation: Operation,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const started = performance.now();
  gateway.metrics.begun(operation.name);
  using life = beginRequest(gateway.shutdown, gateway.maxRequestMs);
  using held = new DisposableStack();
  const exchange: Exchange = { gateway, incoming, outgoing, life, held };
  const onClose = (): void => {
    if (!outgoing.writableFinished) life.interrupt('client_gone');
  };
  outgoing.once('close', onClose);
  const reply = await answerTo(exchange, operation);
  outgoing.off('close', onClose);
  if (reply !== undefined) send(outgoing, reply);
  boundUnread(outgoing, gateway.clientIdleMs);
  report(exchange, operation, reply, (performance.now() - started) / 1_000);
}

/** A client that stops reading must not keep what waits for it: after so much silence the connection ends. */
function boundUnread(outgoing: ServerResponse, ms: number): void {
  if (outgoing.destroyed || outgoing.writableLength === 0) return;
  outgoing.setTimeout(ms, () => outgoing.destroy());
}

/** @returns undefined when nobody is left to be answered */
async function answerTo(exchange: Exchange, operation: Operation): Promise<Reply | undefined> {
  const { gateway, incoming, outgoing } = exchange;
  if (!gateway.keys.admits(incoming.rawHeaders)) {
    drainRefused(incoming, outgoing);
    return failed(plainError('unauthenticated'));
  }
  try {
    return await operation.run(exchange);
  } catch (reason) {
    if (!(reason instanceof Interruption)) {
      gateway.logger.error('operation_failed', { operation: operation.name, failure: describeFailure(reason) });
      if (outgoing.headersSent) outgoing.destroy();
      return failed(plainError('internal'));
    }
    const error = interruptionError(reason);
    if (error === undefined) outgoing.destroy();
    return error === undefined ? undefined : failed(error);
  }
}

function send(outgoing: ServerResponse, reply: Reply): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (reply.kind === 'json') sendBytes(outgoing, 200, 'application/json', reply.bytes);
  else if (reply.kind === 'error') sendError(outgoing, reply.error, reply.retryAfter);
}

/** Answers with an error in the shape of the OpenAI API. */
export function sendError(outgoing: ServerResponse, error: ClientError, retryAfter?: string): void {
  const { status, final, body } = errorAnswer(error);
  sendBytes(outgoing, status, 'application/json', body, {
    ...(final ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

function report(exchange: Exchange, { name }: Operation, reply: Reply | undefined, seconds: number): void {
  const { gateway, pin } = exchange;
  const outcome = outcomeOf(reply);
  const stage = reply === undefined || reply.kind === 'json' ? 'none' : reply.stage;
  const error = reply === undefined || reply.kind === 'json' ? undefined : reply.error;
  const alias = pin?.route.spec.alias ?? '';
  gateway.metrics.ended(name, { alias, outcome, stage, streamed: reply?.kind === 'streamed', seconds });
  gateway.logger.info('request_ended', {
    operation: name,
    outcome,
    stage,
    code: error?.code,
    route: pin?.route.name,
    generation: pin?.route.spec.generationId,
    durationMs: Math.round(seconds * 1_000),
  });
}

function outcomeOf(reply: Reply | undefined): OutcomeName {
  if (reply === undefined) return 'interrupted';
  const error = reply.kind === 'json' ? undefined : reply.error;
  if (error === undefined) return reply.kind !== 'error' && reply.masked ? 'masked' : 'passed';
  if (error.kind === 'check_failed') return 'check_failed';
  if (error.code === 'policy_denied') return 'denied';
  if (error.code === 'shutting_down') return 'interrupted';
  switch (clientErrors[error.code].type) {
    case 'upstream_error':
      return 'upstream_error';
    case 'service_unavailable':
      return 'unavailable';
    case 'internal_error':
      return 'internal';
    default:
      return 'refused';
  }
}
