import { isUtf8 } from 'node:buffer';
import type { HttpConnectionCall } from '#contracts/connections';
import { flowLimits } from '#contracts/flow-limits';
import type { FlowConnection } from '#environment/connections-file';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';
import { buildAddress } from './build-address.ts';
import { ConnectionError } from './connection-error.ts';
import { exchangeBytes, readWhole, type ServiceLink } from './exchange-bytes.ts';

type HttpConnection = Extract<FlowConnection, { readonly kind: 'http' }>;

/**
 * Calls an HTTP service. The result has the status of the service, even for an error; its body is a JSON value, a text,
 * or null if it is empty.
 * @throws ConnectionError
 */
export async function callHttpService(
  { url, methods }: Pick<HttpConnection, 'url' | 'methods'>,
  call: HttpConnectionCall,
  link: ServiceLink,
): Promise<{ readonly status: number; readonly body: JsonValue }> {
  if (!methods.includes(call.method)) throw new ConnectionError('call_forbidden');
  const hasBody = call.body !== undefined;
  if (hasBody && (call.method === 'GET' || call.method === 'DELETE')) throw new ConnectionError('invalid_request');
  const sent = {
    method: call.method,
    url: buildAddress(url, call),
    ...(hasBody ? { body: JSON.stringify(call.body), headers: { 'content-type': 'application/json' } } : {}),
  };
  return await exchangeBytes(link, sent, async ({ status, mediaType }, body) => ({
    status,
    body: jsonOrText(mediaType, await readWhole(link, body)),
  }));
}

function jsonOrText(mediaType: string, bytes: Buffer): JsonValue {
  if (bytes.length === 0) return null;
  if (/^application\/(?:[a-z0-9.-]+\+)?json$/.test(mediaType)) {
    try {
      return parseStrict(bytes, { maxDepth: flowLimits.outputDepth });
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
    }
  } else if (mediaType.startsWith('text/') && isUtf8(bytes)) return bytes.toString('utf8');
  throw new ConnectionError('answer_invalid');
}
