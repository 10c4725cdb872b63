import { hasJsonType, headerValues } from '#kit/http/raw-headers';
import { declaredLength, drainRefused, readBody } from '#kit/http/read-body';
import type { ClientErrorCode } from '../relay/client-error.ts';
import type { RequestContext } from './request-context.ts';

/** The largest body of a request, bytes. */
export const maxRequestBytes = 20 * 1_048_576;

/** Timeout for receiving a request body, in milliseconds; a slower body is answered with request_timeout. */
export const maxBodyMs = 60_000;

type ReceivedBody =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly code: ClientErrorCode };

/**
 * Receives a JSON body after checking its media type, encoding and size. A refused body is drained. Rejects with the
 * reason of the signal when the request is interrupted.
 */
export async function receiveRequestJson(context: RequestContext): Promise<ReceivedBody> {
  const { incoming, outgoing, gateway, life } = context;
  const refuse = (code: ClientErrorCode): ReceivedBody => {
    drainRefused(incoming, outgoing);
    return { ok: false, code };
  };
  if (!hasJsonType(incoming.rawHeaders)) return refuse('unsupported_media');
  if (headerValues(incoming.rawHeaders, 'content-encoding').length > 0) return refuse('unsupported_media');
  if ((declaredLength(incoming.rawHeaders) ?? 0) > maxRequestBytes) return refuse('body_too_large');
  const hold = (bytes: number): boolean | Promise<boolean> => context.bytes.take(bytes);
  const body = await readBody(incoming, { limit: maxRequestBytes, signal: life.signal, ms: gateway.maxBodyMs, hold });
  if (body.ok) return body;
  if (life.signal.aborted) throw life.signal.reason;
  if (body.fault === 'too_large') return refuse('body_too_large');
  if (body.fault === 'refused') return refuse('overloaded');
  if (body.fault === 'aborted') return refuse('request_timeout');
  life.interrupt('client_gone');
  throw life.signal.reason;
}
