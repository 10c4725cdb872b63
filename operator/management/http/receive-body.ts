import type { IncomingMessage } from 'node:http';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import { managementLimits } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { headerValues } from '#kit/http/raw-headers';
import { declaredLength, readBody } from '#kit/http/read-body';
import { JsonError, type JsonValue, parseStrict } from '#kit/json/parse-strict';

/** The longest that a body may take, milliseconds. */
const maxBodyMs = 20_000;

/** A body that arrived: its value, or the fact that it is not strict JSON, and what it is known again by. */
export type ReceivedBody =
  | { readonly ok: true; readonly json: JsonValue | undefined; readonly digest: string }
  | { readonly ok: false; readonly code: ManagementErrorCode };

/** Media type and size, then the body. That it is no JSON is judged later, after the key (research/agents.md, 6.2). */
export async function receiveBody(incoming: IncomingMessage): Promise<ReceivedBody> {
  const { rawHeaders } = incoming;
  if (!isJson(headerValues(rawHeaders, 'content-type'))) return { ok: false, code: 'unsupported_media_type' };
  if (headerValues(rawHeaders, 'content-encoding').length > 0) return { ok: false, code: 'unsupported_media_type' };
  const limit = managementLimits.bodyBytes;
  if ((declaredLength(rawHeaders) ?? 0) > limit) return { ok: false, code: 'body_too_large' };
  const body = await readBody(incoming, { limit, ms: maxBodyMs });
  if (!body.ok) return { ok: false, code: body.fault === 'too_large' ? 'body_too_large' : 'request_timeout' };
  const json = parse(body.bytes);
  // What is no JSON never becomes a command, so its digest must only differ from those of all that are.
  const digest = json === undefined ? `bytes ${sha256Hex(body.bytes)}` : sha256Hex(canonicalBytes(json));
  return { ok: true, json, digest };
}

function parse(bytes: Buffer): JsonValue | undefined {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function isJson(contentTypes: readonly string[]): boolean {
  const [value, ...more] = contentTypes;
  if (value === undefined || more.length > 0) return false;
  return /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(value.trim());
}
