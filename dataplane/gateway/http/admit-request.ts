import type { RequestRefusal } from '../chat/parse-result.ts';
import { type Envelope, readEnvelope } from '../chat/read-envelope.ts';
import { type ClientErrorCode, plainError } from '../relay/client-error.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { receiveJson } from './receive-json.ts';
import { failed, type OperationResult, type RequestContext } from './request-context.ts';

/** A request that was read and whose route is pinned until the request is over. */
export type AdmittedRequest = {
  readonly kind: 'admitted';
  readonly bytes: Buffer;
  readonly envelope: Envelope;
  readonly route: TakenRoute;
};

/** Receives a JSON request and pins the route of the model that it names. */
export async function admitRequest(
  context: RequestContext,
): Promise<AdmittedRequest | (OperationResult & { readonly kind: 'error' })> {
  const received = await receiveJson(context);
  if (!received.ok) return failed(plainError(received.code));
  const envelope = readEnvelope(received.bytes);
  if (!envelope.ok) return refused(envelope.refusal);
  const admission = context.gateway.pins.admit(envelope.value.alias);
  if (admission.kind !== 'pinned') return failed(plainError(absent[admission.kind], 'model'));
  context.pin = context.held.use(admission.pin);
  return { kind: 'admitted', bytes: received.bytes, envelope: envelope.value, route: admission.pin.route };
}

export function refused(refusal: RequestRefusal): OperationResult & { readonly kind: 'error' } {
  return failed(plainError(refusal.code, refusal.param));
}

const absent = {
  unknown: 'model_not_found',
  unavailable: 'model_unavailable',
  disabled: 'model_disabled',
} as const satisfies Record<string, ClientErrorCode>;
