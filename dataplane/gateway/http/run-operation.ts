import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { traceChecks } from '#checks/trace-checks';
import { sendBytes } from '#kit/http/json-answer';
import { drainRefused } from '#kit/http/read-body';
import { openTrace } from '#kit/http/trace-context';
import { describeFailure } from '#kit/log/describe-failure';
import { decisionRecordOf, noteChecks } from '../activity/note-checks.ts';
import { countUse } from '../agents/budgets/count-use.ts';
import type { GatewayOperationName } from '../metrics/gateway-metrics.ts';
import type { OutcomeName } from '../metrics/outcomes.ts';
import { boundUnread } from '../relay/bound-unread.ts';
import { type ClientError, clientErrors, plainError } from '../relay/client-error.ts';
import { beginRequest, Interruption, interruptionError } from '../relay/interruption.ts';
import { errorAnswer } from './errors.ts';
import {
  type ClientResponse,
  errorResponse,
  type Gateway,
  type RequestContext,
  refusalTextOf,
} from './request-context.ts';

export type GatewayOperation = {
  readonly name: GatewayOperationName;
  readonly run: (context: RequestContext) => Promise<ClientResponse> | ClientResponse;
};

/** Runs one HTTP operation: authenticates the client, sends the answer, counts the outcome and writes the log line. */
export async function runOperation(
  gateway: Gateway,
  operation: GatewayOperation,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const started = performance.now();
  gateway.metrics.begun(operation.name);
  using life = beginRequest(gateway.shutdown, gateway.maxRequestMs);
  using held = new DisposableStack();
  const unsent = new DisposableStack();
  const bytes = unsent.use(gateway.bytes.open());
  const requestId = requestIdOf(incoming.headers['x-request-id']);
  outgoing.setHeader('x-request-id', requestId);
  const trace = openTrace(incoming.headers['traceparent'], gateway.spans.isRecording);
  const endSpan = gateway.spans.begin(trace, { name: `gateway ${operation.name}`, kind: 'server' });
  const isTraced = gateway.spans.isRecording && trace.isSampled;
  const checks = noteChecks(isTraced ? traceChecks(gateway.checks, gateway.spans, trace) : gateway.checks);
  const context: RequestContext = { gateway, incoming, outgoing, life, held, unsent, bytes, requestId, trace, checks };
  // A request that waits for bytes ends immediately.
  life.signal.addEventListener('abort', () => bytes.settle(), { once: true });
  const onClose = (): void => {
    if (!outgoing.writableFinished) life.interrupt('client_gone');
  };
  outgoing.once('close', onClose);
  const result = await answerTo(context, operation);
  outgoing.off('close', onClose);
  if (result !== undefined) send(context, result);
  if (outgoing.destroyed) unsent.dispose();
  else outgoing.once('close', () => unsent.dispose());
  boundUnread(outgoing, gateway.clientIdleMs);
  await countTokens(context);
  const outcome = report(context, operation, result, (performance.now() - started) / 1_000);
  const attributes = { 'portcullis.model': context.pin?.route.spec.alias, 'portcullis.outcome': outcome };
  endSpan({ attributes, failed: outcome !== 'passed' && outcome !== 'masked' });
}

/** Counts the tokens of a call of an agent in the budget of the person for whom it was made. */
async function countTokens({ gateway, run, usage }: RequestContext): Promise<void> {
  if (run === undefined || usage === undefined) return;
  await countUse(gateway, { ...run, used: { tokens: usage.input + usage.output, bytes: 0 } });
}

/** A UUID, or 32 hexadecimal digits as the ids of nginx and of traces. */
const recordedId = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/i;

/**
 * The id that a client chose, as the client wrote it, if it has the form of an id: any other text of a client is never
 * recorded.
 */
function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && recordedId.test(sent) ? sent : randomUUID();
}

/** @returns undefined when the client has disconnected */
async function answerTo(context: RequestContext, operation: GatewayOperation): Promise<ClientResponse | undefined> {
  const { gateway, incoming, outgoing } = context;
  const client = await gateway.clients.admit(incoming.rawHeaders);
  if (client.kind === 'refused') {
    drainRefused(incoming, outgoing);
    context.client = client.name;
    const refusal = errorResponse(plainError(client.code));
    return client.retryAfter === undefined ? refusal : { ...refusal, retryAfter: String(client.retryAfter) };
  }
  context.client = client.name;
  if (client.caller !== undefined) context.bytes.shareFor(client.caller);
  context.aliases = client.aliases;
  context.dailyTokens = client.dailyTokens;
  context.run = client.run;
  try {
    return await operation.run(context);
  } catch (reason) {
    if (!(reason instanceof Interruption)) {
      gateway.logger.error('operation_failed', { operation: operation.name, failure: describeFailure(reason) });
      if (outgoing.headersSent) outgoing.destroy();
      return errorResponse(plainError('internal'));
    }
    const error = interruptionError(reason);
    if (error === undefined) outgoing.destroy();
    return error === undefined ? undefined : errorResponse(error);
  }
}

function send({ outgoing, pin }: RequestContext, result: ClientResponse): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (result.kind === 'json') sendBytes(outgoing, 200, 'application/json', result.bytes);
  else if (result.kind === 'error')
    sendError(outgoing, errorAnswer(result.error, refusalTextOf(pin)), result.retryAfter);
}

/** Refuses a request that is no operation, with an error in the shape of the OpenAI API. */
export function sendClientError(
  { headers }: Pick<IncomingMessage, 'headers'>,
  outgoing: ServerResponse,
  error: ClientError,
): void {
  outgoing.setHeader('x-request-id', requestIdOf(headers['x-request-id']));
  sendError(outgoing, errorAnswer(error));
}

function sendError(outgoing: ServerResponse, answer: ReturnType<typeof errorAnswer>, retryAfter?: string): void {
  const { status, final, body } = answer;
  sendBytes(outgoing, status, 'application/json', body, {
    ...(final ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
  });
}

function report(
  context: RequestContext,
  { name }: GatewayOperation,
  result: ClientResponse | undefined,
  seconds: number,
): OutcomeName {
  const { gateway, pin, requestId, client } = context;
  const outcome = outcomeOf(result);
  const stage = result === undefined || result.kind === 'json' ? 'none' : result.stage;
  const error = result === undefined || result.kind === 'json' ? undefined : result.error;
  const alias = pin?.route.spec.alias ?? '';
  noteProvider(context, error);
  gateway.metrics.ended(name, { alias, outcome, stage, streamed: result?.kind === 'streamed', seconds });
  gateway.metrics.clients.ended({ name: client, dailyTokens: context.dailyTokens }, outcome, context.usage);
  const deciding = context.checks.deciding();
  const record = decisionRecordOf({ requestId, time: new Date(), client, pin, outcome, code: error?.code, deciding });
  if (record !== undefined) gateway.activity.add(record);
  gateway.logger.info('request_ended', {
    requestId,
    operation: name,
    client,
    outcome,
    stage,
    code: error?.code,
    rule: record?.rule,
    provider: record?.provider?.name,
    cause: record?.provider?.cause,
    policyId: record?.policyId,
    revision: record?.revision,
    route: pin?.route.name,
    generation: pin?.route.spec.generationId,
    durationMs: Math.round(seconds * 1_000),
  });
  return outcome;
}

/** An answer in the expected form shows that the provider can be used, unless its content is not of the API. */
function noteProvider({ gateway, answered }: RequestContext, error: ClientError | undefined): void {
  if (answered === undefined) return;
  const isInvalid = error?.kind === 'plain' && error.code === 'upstream_invalid';
  if (isInvalid) gateway.metrics.providerFailed('invalid_answer');
  gateway.providers.note(answered, isInvalid ? 'invalid_answer' : undefined);
}

function outcomeOf(result: ClientResponse | undefined): OutcomeName {
  if (result === undefined) return 'interrupted';
  const error = result.kind === 'json' ? undefined : result.error;
  if (error === undefined) return result.kind !== 'error' && result.masked ? 'masked' : 'passed';
  if (error.kind === 'check_failed') return error.excess === undefined ? 'check_failed' : 'answer_too_long';
  if (error.kind === 'too_long') return 'refused';
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
