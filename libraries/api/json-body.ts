import type { IncomingMessage } from 'node:http';
import { canonicalBytes, sha256Hex } from '#contracts/canonical';
import type { TakenBytes } from '#kit/http/byte-budget';
import { hasJsonType, headerValues } from '#kit/http/raw-headers';
import { declaredLength, readBody } from '#kit/http/read-body';
import { JsonError, type JsonValue, mostValuesOf, parseStrict } from '#kit/json/parse-strict';

/** A request body that was received completely. */
export type JsonBody = {
  /** The parsed JSON; undefined where the body is not strict JSON (no repeated keys, valid UTF-8). */
  readonly json: JsonValue | undefined;
  /** A hash of a JSON body: equal for bodies whose canonical JSON (RFC 8785) is equal. */
  readonly digest: string;
};

type BodyFault = 'unsupportedMediaType' | 'bodyTooLarge' | 'requestTimeout' | 'overloaded';

/** Maximum number of values of a body: a value takes many times its bytes of memory. */
const maxValues = 1_000_000;
/** Bytes of the budget that each value of a body takes. */
const valueBytes = 64;
/** The first bytes of a body that do not count in the budget: small requests are read while large ones wait. */
const freeBytes = 65_536;

/** The bytes of the budget that the largest body takes. */
export function largestHeldBytes(bodyBytes: number): number {
  return bodyBytes + Math.min(maxValues, bodyBytes) * valueBytes;
}

/**
 * Reads a body whose media type and declared size were accepted. Only application/json in UTF-8 without a content
 * coding is accepted. An optional body without bytes is read as `{}`, whatever its media type is.
 * @param held the bytes of the request in the budget of the process; absent if the service has no budget
 */
export async function receiveJson(
  incoming: IncomingMessage,
  limits: { readonly bodyBytes: number; readonly bodyMs: number; readonly isOptional: boolean },
  held?: Pick<TakenBytes, 'take'>,
): Promise<JsonBody | BodyFault> {
  const { rawHeaders } = incoming;
  if (limits.isOptional && hasNoBody(rawHeaders)) return bodyOf({});
  if (!hasJsonType(rawHeaders)) return 'unsupportedMediaType';
  if (headerValues(rawHeaders, 'content-encoding').length > 0) return 'unsupportedMediaType';
  const limit = limits.bodyBytes;
  if ((declaredLength(rawHeaders) ?? 0) > limit) return 'bodyTooLarge';
  const body = await readBody(incoming, { limit, ms: limits.bodyMs, ...(held && { hold: holdFrom(held) }) });
  if (!body.ok) return faults[body.fault];
  if (limits.isOptional && body.bytes.length === 0) return bodyOf({});
  if (body.bytes.length > freeBytes) {
    const values = mostValuesOf(body.bytes);
    if (values > maxValues) return 'bodyTooLarge';
    if (held !== undefined && !(await held.take(values * valueBytes))) return 'overloaded';
  }
  const json = parse(body.bytes);
  // A body that is not JSON is never accepted: its digest only has to differ from the digests of all JSON values.
  return json === undefined ? { json, digest: `bytes ${sha256Hex(body.bytes)}` } : bodyOf(json);
}

const faults = {
  too_large: 'bodyTooLarge',
  refused: 'overloaded',
  aborted: 'requestTimeout',
  closed: 'requestTimeout',
} as const satisfies Record<string, BodyFault>;

/** Takes the bytes that exceed the free bytes from the budget. */
function holdFrom(held: Pick<TakenBytes, 'take'>): (bytes: number) => boolean | Promise<boolean> {
  let received = 0;
  return (bytes) => {
    const before = Math.max(received, freeBytes);
    received += bytes;
    return received > before ? held.take(received - before) : true;
  };
}

/** The digest is computed when it is first read: for a large body of many values that takes longer than the parsing. */
function bodyOf(json: JsonValue): JsonBody {
  let digest: string | undefined;
  return {
    json,
    get digest() {
      digest ??= sha256Hex(canonicalBytes(json));
      return digest;
    },
  };
}

/** A request without Content-Length and Transfer-Encoding has no body (RFC 9112, 6.3). */
function hasNoBody(rawHeaders: readonly string[]): boolean {
  return (declaredLength(rawHeaders) ?? 0) === 0 && headerValues(rawHeaders, 'transfer-encoding').length === 0;
}

function parse(bytes: Buffer): JsonValue | undefined {
  try {
    return parseStrict(bytes);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
