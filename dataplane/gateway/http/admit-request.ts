import type { RequestRefusal } from '../chat/parse-result.ts';
import { type Envelope, readEnvelope } from '../chat/read-envelope.ts';
import { type ClientErrorCode, plainError } from '../relay/client-error.ts';
import type { HeldTree } from '../relay/held-tree.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { receiveRequestJson } from './receive-json.ts';
import { type ClientResponse, errorResponse, type RequestContext } from './request-context.ts';

/** A request whose body was read. Its route stays pinned until the request ends. */
export type AdmittedRequest = {
  readonly kind: 'admitted';
  readonly bytes: Buffer;
  readonly envelope: Envelope;
  readonly route: TakenRoute;
};

/** Reads a JSON request, whose tree counts in `tree`, and pins the route of the model that it names. */
export async function admitRequest(
  context: RequestContext,
  tree: HeldTree,
): Promise<AdmittedRequest | (ClientResponse & { readonly kind: 'error' })> {
  const received = await receiveRequestJson(context);
  if (!received.ok) return errorResponse(plainError(received.code));
  const { bytes } = received;
  const read = await tree.read(
    () => readEnvelope(bytes),
    (envelope) => (envelope.ok ? envelope.value.values : 0),
  );
  if (context.life.signal.aborted) throw context.life.signal.reason;
  if (read === undefined) return errorResponse(plainError('overloaded'));
  const envelope = read.value;
  if (!envelope.ok) return refusalResponse(envelope.refusal);
  // The request is refused before the route is looked up, because the answer must not reveal whether other models
  // exist.
  if (context.aliases?.has(envelope.value.alias) === false)
    return errorResponse(plainError('model_forbidden', 'model'));
  const admission = context.gateway.pins.admit(envelope.value.alias);
  if (admission.kind !== 'pinned') return errorResponse(plainError(absent[admission.kind], 'model'));
  context.pin = context.held.use(admission.pin);
  return { kind: 'admitted', bytes, envelope: envelope.value, route: admission.pin.route };
}

export function refusalResponse(refusal: RequestRefusal): ClientResponse & { readonly kind: 'error' } {
  return errorResponse(plainError(refusal.code, refusal.param));
}

const absent = {
  unknown: 'model_not_found',
  unavailable: 'model_unavailable',
  disabled: 'model_disabled',
} as const satisfies Record<string, ClientErrorCode>;
