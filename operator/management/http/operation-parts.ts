/** The errors of an operation that reads a body. */
export const bodyErrors = [
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
  'invalid_json',
  'invalid_body',
] as const;

/** The success of an operation that answers 200 without additional headers. */
export function usualSuccess(schema: string) {
  return { status: 200, description: 'What was asked for.', schema, headers: [] } as const;
}
