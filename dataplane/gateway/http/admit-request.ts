import { type Envelope, readEnvelope } from '../chat/read-envelope.ts';
import type { Refusal } from '../chat/refusal.ts';
import { type ClientErrorCode, plainError } from '../relay/client-error.ts';
import type { TakenRoute } from '../routes/route-table.ts';
import { type Exchange, failed, type Reply } from './exchange.ts';
import { receiveJson } from './receive-json.ts';

/** A request that was read and whose route is pinned until the exchange is over. */
export type Admitted = {
  readonly kind: 'admitted';
  readonly bytes: Buffer;
  readonly envelope: Envelope;
  readonly route: TakenRoute;
};

/** Receives a JSON request and pins the route of the model that it names. */
export async function admitRequest(exchange: Exchange): Promise<Admitted | (Reply & { readonly kind: 'error' })> {
  const received = await receiveJson(exchange);
  if (!received.ok) return failed(plainError(received.code));
  const envelope = readEnvelope(received.bytes);
  if (!envelope.ok) return refused(envelope.refusal);
  const admission = exchange.gateway.pins.admit(envelope.value.alias);
  if (admission.kind !== 'pinned') return failed(plainError(absent[admission.kind], 'model'));
  exchange.pin = exchange.held.use(admission.pin);
  return { kind: 'admitted', bytes: received.bytes, envelope: envelope.value, route: admission.pin.route };
}

export function refused(refusal: Refusal): Reply & { readonly kind: 'error' } {
  return failed(plainError(refusal.code, refusal.param));
}

const absent = {
  unknown: 'model_not_found',
  unavailable: 'model_unavailable',
  disabled: 'model_disabled',
} as const satisfies Record<string, ClientErrorCode>;
