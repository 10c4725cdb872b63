import { z } from 'zod';
import type { ProviderCause } from '#contracts/provider-causes';
import { headerValues } from '#kit/http/raw-headers';
import { readTraceParent, writeTraceParent } from '#kit/http/trace-context';
import { readUsage } from '../chat/read-usage.ts';
import { type ClientErrorCode, plainError } from '../relay/client-error.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { readWholeBody } from '../upstream/read-whole-body.ts';
import type { UpstreamAnswer, UpstreamCall } from '../upstream/upstream-client.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';

/** The largest provider answer that is read whole, in bytes. */
export const maxAnswerBytes = 20 * 1_048_576;

/**
 * A call of the provider. `isOptional`: the provider may lack the path, which is not reported as a configuration error.
 */
type ProviderCall = Pick<UpstreamCall, 'path'> & {
  readonly body: { readonly bytes: Uint8Array };
  readonly isOptional?: boolean;
};

/** Statuses of a provider that does not have a path, in addition to 404. */
const notOffered: ReadonlySet<number> = new Set([405, 501]);

/** Bounds of an error body of a provider. */
const maxErrorBytes = 65_536;
const maxErrorMs = 5_000;
const unknownModelSchema = z.object({ error: z.object({ code: z.literal('model_not_found') }) });

type ErrorReply = ClientResponse & { readonly kind: 'error' };
type Answer = UpstreamAnswer & { readonly kind: 'answer' };

const bodyFaults = {
  too_large: 'upstream_too_large',
  refused: 'overloaded',
  broken: 'upstream_broken',
} as const;

/**
 * Sends a request body to the provider of the route. Of the client's headers only the known fields of `traceparent` are
 * forwarded. An answer other than 200 with the expected media type becomes an error of the gateway without the
 * provider's text.
 */
export async function callProvider(
  context: RequestContext,
  route: TakenRoute,
  call: ProviderCall & Pick<UpstreamCall, 'accept'>,
): Promise<Answer | ErrorReply> {
  const { endpoint, credential, provider } = route.spec.upstream;
  const { upstream, logger } = context.gateway;
  const headers = forwardedHeaders(context);
  const { path, body, accept, isOptional = false } = call;
  const sent = { path, body: body.bytes, accept, endpoint, credential, headers };
  const answer = await upstream.call(sent, context.life.signal);
  if (answer.kind !== 'answer') {
    const { cause } = answer;
    noteFailure(context, route, cause);
    logger.warn('provider_unreachable', { provider, cause, credential });
    return errorResponse(plainError('upstream_unreachable'));
  }
  if (answer.status === 200 && !answer.encoded && answer.mediaType === accept) {
    context.answered = route.spec.upstream;
    return answer;
  }
  const cause = await causeOfAnswer(answer, context.life.signal);
  answer.body.destroy();
  if (isOptional && (cause === 'not_found' || notOffered.has(answer.status)))
    return errorResponse(plainError('operation_not_offered'));
  if (cause !== undefined) {
    noteFailure(context, route, cause);
    logger.warn('provider_refused', { provider, cause, status: answer.status });
  }
  if (answer.status === 200) return errorResponse(plainError('upstream_invalid'));
  const error = errorResponse(plainError(mapUpstreamStatus(answer.status)));
  return answer.retryAfter === undefined ? error : { ...error, retryAfter: answer.retryAfter };
}

function noteFailure({ gateway }: RequestContext, { spec }: TakenRoute, cause: ProviderCause): void {
  gateway.metrics.providerFailed(cause);
  gateway.providers.note(spec.upstream, cause);
}

/** The configuration error of the provider that an unusable answer indicates; undefined if it indicates none. */
async function causeOfAnswer({ status, body }: Answer, signal: AbortSignal): Promise<ProviderCause | undefined> {
  switch (status) {
    case 200:
      return 'invalid_answer';
    case 401:
    case 403:
      return 'credential_refused';
    case 404:
      return (await isModelUnknown(body, signal)) ? 'model_not_found' : 'not_found';
    case 429:
      return 'rate_limited';
    default:
      return undefined;
  }
}

/** Whether the error object of the answer has the code `model_not_found`. The text of the answer is not kept. */
async function isModelUnknown(body: Answer['body'], signal: AbortSignal): Promise<boolean> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(maxErrorMs)]);
  try {
    const read = await readWholeBody(body, { limit: maxErrorBytes, hold: () => true }, bounded);
    if (!read.ok) return false;
    return unknownModelSchema.safeParse(JSON.parse(read.bytes.toString('utf8'))).success;
  } catch {
    // An error body that cannot be read does not count as an unknown model. An aborted request rejects with the reason
    // of the abort.
    if (signal.aborted) throw signal.reason;
    return false;
  }
}

/**
 * Sends a request body to the provider and reads the whole answer, within the memory budget that all answers of the
 * process share.
 */
export async function askProvider(
  context: RequestContext,
  route: TakenRoute,
  call: ProviderCall,
): Promise<{ readonly kind: 'whole'; readonly bytes: Buffer } | ErrorReply> {
  const answer = await callProvider(context, route, { ...call, accept: 'application/json' });
  if (answer.kind === 'error') return answer;
  const hold = (bytes: number): boolean | Promise<boolean> => context.bytes.take(bytes);
  const body = await readWholeBody(answer.body, { limit: maxAnswerBytes, hold }, context.life.signal);
  if (!body.ok) return errorResponse(plainError(bodyFaults[body.fault]));
  context.usage = readUsage(body.bytes);
  return { kind: 'whole', bytes: body.bytes };
}

/** If the span of the request is recorded, the provider continues it, otherwise the trace of the client. */
function forwardedHeaders({ gateway, incoming, trace }: RequestContext): Readonly<Record<string, string>> {
  if (gateway.spans.isRecording && trace.isSampled) return { traceparent: trace.traceparent };
  const [value, ...more] = headerValues(incoming.rawHeaders, 'traceparent');
  const parent = more.length === 0 ? readTraceParent(value) : undefined;
  return parent === undefined ? {} : { traceparent: writeTraceParent(parent) };
}

/**
 * The gateway's error code for a provider status other than 200. A status about the gateway's credential or address is
 * reported as a failure of the gateway, not of the request; redirects are never followed.
 */
export function mapUpstreamStatus(status: number): ClientErrorCode {
  switch (status) {
    case 400:
    case 413:
    case 422:
      return 'upstream_refused';
    case 408:
    case 504:
      return 'upstream_timeout';
    case 429:
      return 'upstream_rate_limited';
    case 503:
      return 'upstream_overloaded';
    default:
      return 'upstream_failed';
  }
}
