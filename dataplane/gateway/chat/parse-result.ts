/**
 * A request that the gateway refuses before any check. `param` names the place in the request by known names and
 * positions, or by a key of the request that looks like an identifier; null if there is no single place.
 */
export type RequestRefusal = { readonly code: RequestRefusalCode; readonly param: string | null };

/** The reason of the refusal; `relay/client-error.ts` lists the status and message of each reason. */
export type RequestRefusalCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'unknown_key'
  | 'ambiguous_key'
  | 'unsupported_value'
  | 'unsupported_for_profile'
  | 'unsupported_for_policy'
  | 'streaming_refused'
  | 'unjudged_text';

export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: RequestRefusal };

export function refuse(
  code: RequestRefusalCode,
  param: string | null,
): { readonly ok: false; readonly refusal: RequestRefusal } {
  return { ok: false, refusal: { code, param } };
}

export function accept<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

const identifier = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;

/**
 * The path of a key inside its parent. A key that does not look like an identifier is omitted, because it could be user
 * text.
 */
export function placeOf(parent: string, key: string): string {
  if (!identifier.test(key)) return parent === '' ? '(root)' : parent;
  return parent === '' ? key : `${parent}.${key}`;
}
